"""What a translator learns from a batch, and what changes where two passes are to agree."""

import pytest
import torch
from data.made_tokens import VOCABULARY

from headstart.data.buckets import Bucketing
from headstart.data.pairs import Fitting, PairBatch, TranslationPairs
from headstart.model.body import Body
from headstart.model.init import initialise
from headstart.model.models import Translator
from headstart.model.shape import Shape
from headstart.train.translation import NextWord


@pytest.fixture
def batch() -> PairBatch:
    sources, targets = [[7, 8, 9], [10], [11, 12, 13, 14]], [[20, 21], [22, 23, 24], [25]]
    bucketing = Bucketing(rows=9, budget=500, pool=1)
    fitting = Fitting(longest=50, largest_ratio=9.0)
    return TranslationPairs(sources, targets, tokenizer=VOCABULARY, fitting=fitting, bucketing=bucketing).batch(0, 0)


def translator(dropout: float) -> Translator:
    torch.manual_seed(0)
    shape = Shape(
        vocabulary=100, width=16, depth=1, heads=2, hidden=32, context=64, dropout=dropout, embedding_dropout=dropout
    )
    model = Translator(Body(shape, causal=False), Body(shape, causal=True, reads_memory=True))
    initialise(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return model


def test_without_dropout_two_passes_agree_anyway(batch: PairBatch) -> None:
    model = translator(dropout=0.0)
    one, two = NextWord(model, 0.1)(batch), NextWord(model, 0.1, agreement=5.0)(batch)
    torch.testing.assert_close(two, one)


def test_with_dropout_they_differ_and_that_costs(batch: PairBatch) -> None:
    model = translator(dropout=0.5)
    losses = []
    for agreement in (1e-9, 1.0, 3.0):
        torch.manual_seed(1)
        losses.append(NextWord(model, 0.1, agreement)(batch).item())
    apart = losses[1] - losses[0]
    assert apart > 0.01
    assert losses[2] - losses[0] == pytest.approx(3 * apart, rel=1e-3)


def test_measuring_is_neither_smoothed_nor_doubled(batch: PairBatch) -> None:
    model = translator(dropout=0.5)
    assert NextWord(model, 0.1, agreement=5.0).eval()(batch).item() == NextWord(model).eval()(batch).item()

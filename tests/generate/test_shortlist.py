"""The shortlist never loses a token that could win, and its scores are the exact ones."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headstart.checkpoint import build
from headstart.generate import search, shortlist
from headstart.generate.choose import Sampling
from headstart.generate.shortlist import WIDE, Shortlist, as_seen, pays
from headstart.model.heads import VocabularyHead
from headstart.model.init import initialise
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape

SHAPE = Shape(vocabulary=4_101, width=24, depth=1, heads=2, hidden=16, context=64)
FORBIDDEN = (0, 1, 3)
pytestmark = pytest.mark.skipif(torch.backends.quantized.engine not in ("x86", "fbgemm"), reason="no int8 product here")


def head_of(seed: int, spread: float) -> VocabularyHead:
    """Rows of very different lengths, as trained tables have them."""
    torch.manual_seed(seed)
    head = VocabularyHead(SHAPE, torch.nn.Embedding(SHAPE.vocabulary, SHAPE.width))
    with torch.no_grad():
        head.weight.copy_(torch.randn_like(head.weight) * torch.randn(SHAPE.vocabulary, 1).mul(spread).exp())
        torch.nn.init.normal_(head.bias)  # type: ignore[arg-type]
    return head


def exact(head: VocabularyHead, x: Tensor, forbidden: Sequence[int]) -> Tensor:
    scores = (x.double() @ head.weight.double().t() + head.bias.double()).detach()  # type: ignore[union-attr]
    scores[:, list(forbidden)] = -torch.inf
    return scores


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([1, 5, 40]),
    st.integers(1, 5),
    st.booleans(),
)
def test_the_best_are_always_on_the_list(seed: int, spread: float, best: int, rows: int, wide: bool) -> None:
    """With inputs of seven bits anywhere, and of eight where the processor can."""
    head = head_of(seed, spread)
    x = torch.randn(rows, SHAPE.width) * torch.randn(rows, 1).exp()
    with torch.inference_mode(), patch.object(shortlist, "WIDE", wide and WIDE):
        found, true = Shortlist(head, FORBIDDEN, best)(x), exact(head, x, FORBIDDEN)
    for row in range(rows):
        listed = found.scores[row] > -torch.inf
        ids = found.ids[row][listed].tolist()
        assert ids == sorted(set(ids)), "in the order of the ids, each once"
        assert set(true[row].topk(best).indices.tolist()) <= set(ids)
        torch.testing.assert_close(found.scores[row][listed].double(), true[row][ids], rtol=1e-4, atol=1e-4)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["normal", "positive", "zero", "one large"]))
def test_the_product_sees_inputs_as_the_bound_takes_them(seed: int, kind: str) -> None:
    head = head_of(seed, 0.0)
    x = torch.randn(3, SHAPE.width)
    x = {"normal": x, "positive": x.abs(), "zero": x * 0, "one large": x.index_fill(1, torch.tensor([2]), 50.0)}[kind]
    with torch.inference_mode():
        listing = Shortlist(head, (), 1)
        rough = torch.ops.quantized.linear_dynamic(x, listing.packed, not WIDE)[:, : SHAPE.vocabulary]
        steps = head.weight.abs().amax(1, keepdim=True) / 127
        table = (head.weight / steps).round() * steps
        torch.testing.assert_close(
            rough, as_seen(x) @ table.t() + listing.bias[: SHAPE.vocabulary], rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(temperature=1.0, top_k=20, top_p=0.9)])
def test_the_same_tokens_with_and_without_it_cached_or_not(sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = build("lm", SHAPE).eval()
    initialise(model)
    assert isinstance(model, LanguageModel)
    torch.nn.init.normal_(model.head.weight, std=1.0)
    prompts, chooser = [[0, 7, 8], [0], [0, 9, 4, 4, 11]], sampling.chooser(FORBIDDEN)
    assert pays(model.head, chooser.best)
    written = {}
    for worth in (1, 10**9):
        for cached in (True, False):
            monkeypatch.setattr(search, "WORTH", worth)
            found = search.generate(model, prompts, tokens=20, chooser=chooser, seeds=[1, 2, 3], cached=cached)
            written[worth, cached] = [(token.row, token.id) for token in found]
    assert all(tokens == written[1, True] for tokens in written.values())

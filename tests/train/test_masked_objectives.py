"""The masked losses are those of the textbook, however a batch is cut into parts and shares."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from data.made_tokens import SIZE, VOCABULARY, numbered, stored
from model.shapes import model_of
from torch import Tensor, nn

from headstart.data.masked import MaskedWindows
from headstart.data.sentences import SentenceBatch, SentencePairs
from headstart.model.models import MaskedModel
from headstart.train.course import Course
from headstart.train.device import join_workers
from headstart.train.loop import fit
from headstart.train.objectives import HiddenTokens, HiddenTokensAndNextSentence, targets_in
from headstart.train.optimiser import adamw


def bert() -> MaskedModel:
    model = model_of("bert", vocabulary=SIZE, context=40, segments=2)
    assert isinstance(model, MaskedModel)
    return model


def pairs_of(rows: int) -> SentenceBatch:
    draw = np.random.default_rng(0)
    texts = [draw.integers(8, SIZE, draw.integers(5, 60)).tolist() for _ in range(rows)]
    source = SentencePairs(stored(texts), 30, rows, 0, VOCABULARY, ends_sentence=np.zeros(SIZE, bool))
    return source.batch(0, 0)


def textbook(model: MaskedModel, batch: SentenceBatch) -> Tensor:
    """Both means, from the scores of every position, padding kept out of sight."""
    x = model.body(batch.ids, real=batch.documents >= 0, segments=batch.segments)
    hidden = F.cross_entropy(model.head(x).flatten(0, 1), batch.targets.flatten(), ignore_index=-100)
    assert model.next_sentence is not None
    return hidden + F.cross_entropy(model.next_sentence(x[:, 0]), batch.follows)


class Parts:
    """Given batches, one after the other."""

    def __init__(self, *parts: SentenceBatch):
        self.parts = parts

    def steps(self, epoch: int) -> int:
        return len(self.parts)

    def batch(self, epoch: int, position: int) -> SentenceBatch:
        return self.parts[position]


def norm_of(model: nn.Module, loss: Tensor) -> float:
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    return torch.cat([gradient.flatten() for gradient in gradients]).norm().item()


@pytest.mark.parametrize("cuts", [[8], [3, 5], [1, 1, 6]])
def test_each_loss_is_divided_by_its_own_targets_over_all_parts(cuts: list[int]) -> None:
    whole, parts, start = pairs_of(8), [], 0
    for rows in cuts:
        parts.append(replace(whole, **{k: v[start : start + rows] for k, v in whole.tensors().items()}))
        start += rows
    model = bert()
    wanted = textbook(model, whole)
    options = {"steps": range(1), "workers": join_workers("cpu"), "accumulate": len(cuts), "clip": 0.0}
    optimiser = adamw(model, weight_decay=0.0, betas=(0.9, 0.98))
    step = next(fit(HiddenTokensAndNextSentence(model), Course(Parts(*parts)), optimiser, lambda _: 0.0, **options))  # type: ignore[arg-type]
    assert step.loss == pytest.approx(wanted.item(), rel=1e-5)
    fresh = bert()  # the same weights
    assert step.norm == pytest.approx(norm_of(fresh, textbook(fresh, whole)), rel=1e-4)


def test_shares_of_workers_add_up_and_one_without_a_row_adds_nothing() -> None:
    objective, whole = HiddenTokensAndNextSentence(bert()), pairs_of(5)
    shares = [whole.share(rank, 3) for rank in range(3)]
    assert torch.allclose(sum(objective(share) for share in shares), objective(whole), rtol=1e-5)
    assert sum(targets_in(share) for share in shares).tolist() == targets_in(whole).tolist()  # type: ignore[union-attr]
    nothing = pairs_of(1).share(1, 2)
    assert targets_in(nothing).tolist() == [0, 0]
    loss = objective(nothing).sum()
    assert loss.item() == 0
    assert norm_of(objective, loss) == 0


def test_hidden_tokens_match_the_textbook_in_packed_windows() -> None:
    model = model_of("masked", vocabulary=SIZE, context=40)
    assert isinstance(model, MaskedModel)
    windows = MaskedWindows(numbered([9, 30, 4, 17, 55]), 24, 4, 0, VOCABULARY)
    batch = windows.batch(0, 0)
    scores = model(batch.ids, documents=batch.documents, positions=batch.positions)
    wanted = F.cross_entropy(scores.flatten(0, 1), batch.targets.flatten(), reduction="sum", ignore_index=-100)
    assert HiddenTokens(model)(batch).item() == pytest.approx(wanted.item(), rel=1e-5)

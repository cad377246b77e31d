"""A sample of the vocabulary teaches what all of it would."""

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from train.small_corpus import small_corpus, small_settings

from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.stopping import StopRule
from headstart.train.rows import RowAdamW
from headstart.train.sampled_loss import Sampler, chances_of, sampled_loss


def parts(rows: int, width: int, tokens: int, seed: int, has_bias: bool = True) -> tuple[Tensor, ...]:
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, width, generator=draw, requires_grad=True)
    weight = torch.randn(tokens, width, generator=draw, requires_grad=True)
    bias = torch.randn(tokens, generator=draw, requires_grad=True) if has_bias else None
    targets = torch.randint(-1, tokens, (rows,), generator=draw)
    targets[0] = 0
    return x, weight, bias, torch.where(targets < 0, -100, targets)  # type: ignore[return-value]


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 30),
    width=st.integers(1, 9),
    tokens=st.integers(2, 60),
    seed=st.integers(0, 2**31),
    has_bias=st.booleans(),
    room=st.integers(1, 500),
)
def test_a_sample_of_everything_is_exact(
    rows: int, width: int, tokens: int, seed: int, has_bias: bool, room: int
) -> None:
    x, weight, bias, targets = parts(rows, width, tokens, seed, has_bias)
    learnt = [part for part in (x, weight, bias) if part is not None]
    exact = F.cross_entropy(F.linear(x, weight, bias), targets, reduction="sum")
    expected = torch.autograd.grad(exact * 0.5, learnt)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headstart.train.vocabulary_loss.ROOM", room)
        loss = sampled_loss(x, weight, bias, targets, Sampler(torch.ones(tokens), tokens))
        found = torch.autograd.grad(loss * 0.5, learnt)
    torch.testing.assert_close(loss, exact, rtol=1e-4, atol=1e-4)
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@settings(max_examples=50, deadline=None)
@given(counts=st.lists(st.integers(0, 10**6), min_size=1, max_size=50), number=st.integers(1, 60))
def test_chances_add_up(counts: list[int], number: int) -> None:
    shares = torch.tensor(counts, dtype=torch.float64).clamp(min=1)
    chances = chances_of(shares, number)
    assert float(chances.sum()) == pytest.approx(min(number, len(counts)))
    assert (chances > 0).all()
    assert (chances <= 1).all()
    assert (chances[shares.argmax()] >= chances - 1e-12).all()


def test_it_is_right_on_average() -> None:
    """Over many samples, the sum over the vocabulary has no error, and loss and gradients have a small one."""
    x, weight, bias, targets = parts(40, 4, 400, 7)
    weight.data.mul_(0.5)
    counts = 1000 / torch.arange(1, 401)
    sampler = Sampler(counts, 150)
    learnt = [x, weight, bias]
    exact = F.cross_entropy(F.linear(x, weight, bias), targets, reduction="sum")
    expected = torch.autograd.grad(exact, learnt)
    torch.manual_seed(0)
    losses, sums = [], [torch.zeros_like(part) for part in learnt]
    for _ in range(400):
        loss = sampled_loss(x, weight, bias, targets, sampler)
        losses.append(loss.item())
        for total, gradient in zip(sums, torch.autograd.grad(loss, learnt)):
            total += gradient / 400
    assert sum(losses) / 400 == pytest.approx(exact.item(), rel=0.02)
    for found, right in zip(sums, expected):
        assert float((found - right).norm() / right.norm()) < 0.08


def test_each_step_draws_from_its_own_seed() -> None:
    sampler, targets = Sampler(torch.arange(1000) + 1, 100), torch.tensor([5, 999, 5])
    torch.manual_seed(1)
    tokens, raised, places = sampler.draw(targets)
    torch.rand(7)
    torch.manual_seed(1)
    assert torch.equal(sampler.draw(targets)[0], tokens)
    assert torch.equal(tokens[places], targets)
    assert torch.equal(tokens, tokens.unique())
    assert (raised[places] == 0).all()
    assert 50 < len(tokens) < 150
    torch.manual_seed(2)
    assert not torch.equal(sampler.draw(targets)[0], tokens)


def test_counts_are_taken_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = torch.randint(50, (333,)).numpy().astype("uint16")
    whole = Sampler.of(ids, 60, 20)
    monkeypatch.setattr("headstart.train.sampled_loss.PIECE", 10)
    assert torch.equal(Sampler.of(ids, 60, 20).chances, whole.chances)


def test_a_model_trained_on_samples_is_calibrated() -> None:
    """It learns a known distribution of the next token, and its exact softmax shows it."""
    torch.manual_seed(0)
    tokens, contexts = 300, 8
    truth = torch.softmax(2 * torch.randn(contexts, tokens) - 0.01 * torch.arange(tokens), 1)
    inputs, weight, bias = (
        nn.Parameter(0.3 * torch.randn(contexts, 16)),
        nn.Parameter(0.1 * torch.randn(tokens, 16)),
        nn.Parameter(torch.zeros(tokens)),
    )
    sampler = Sampler(truth.mean(0) * 1e5, 60)
    groups = [{"params": [inputs, weight, bias], "weight_decay": 0.0}]
    optimiser = RowAdamW(groups, [weight, bias], (0.9, 0.98))
    steps, rows, sums = 600, 256, truth.cumsum(1)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 0.02 * (1 - step / steps)
        context = torch.randint(contexts, (rows,))
        targets = torch.searchsorted(sums[context], torch.rand(rows, 1))[:, 0].clamp(max=tokens - 1)
        (sampled_loss(inputs[context], weight, bias, targets, sampler) / rows).backward()
        assert weight.grad is not None
        assert weight.grad.is_sparse
        optimiser.step()
        optimiser.zero_grad()
    optimiser.wake_all()
    logs = torch.log_softmax(F.linear(inputs, weight, bias), 1)
    distance = (truth * (truth.log() - logs)).sum(1).mean().item()
    assert distance < 0.05 < math.log(tokens) / 50


@pytest.mark.parametrize("tied", ["true", "false"])
def test_a_resumed_run_ends_with_the_same_bytes(tied: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sampled loss, sleeping rows, stops right at an evaluation and between two."""
    monkeypatch.setattr("headstart.train.tables.MANY_ROWS", 100)
    corpus = small_corpus(tmp_path)
    options = small_settings("train.loss=sampled", "train.negatives=40", f"model.tied={tied}")

    def go(name: str, stop_at: int = 0) -> None:
        def watch(event: object) -> None:
            if stop_at and getattr(event, "number", 0) == stop_at:
                raise RuntimeError("the lights went out")

        pretrain([corpus], tmp_path / name, settings=options, stop=StopRule(steps=40), seed=3, resume=True, watch=watch)

    go("whole")
    for stop_at in (7, 20, 39):
        with pytest.raises(RuntimeError, match="lights"):
            go("halting", stop_at)
    go("halting")
    for file in ("last/model.safetensors", "last/moments.safetensors", "best/model.safetensors", "metrics.jsonl"):
        assert (tmp_path / "halting" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    table = b"gap/body.embedding.weight" if tied == "true" else b"gap/head.weight"
    assert table in (tmp_path / "whole/last/moments.safetensors").read_bytes()

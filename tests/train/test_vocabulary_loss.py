"""The chunked loss equals torch's cross-entropy, and so do its gradients."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.train import vocabulary_loss as module
from headstart.train.vocabulary_loss import vocabulary_loss

KINDS = (torch.float64, torch.float32)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 40),
    width=st.integers(1, 9),
    tokens=st.integers(2, 60),
    seed=st.integers(0, 2**31),
    has_bias=st.booleans(),
    room=st.integers(1, 500),
)
def test_it_equals_cross_entropy(rows: int, width: int, tokens: int, seed: int, has_bias: bool, room: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, width, generator=draw, requires_grad=True)
    weight = torch.randn(tokens, width, generator=draw, requires_grad=True)
    bias = torch.randn(tokens, generator=draw, requires_grad=True) if has_bias else None
    targets = torch.randint(tokens, (rows,), generator=draw)
    targets[torch.rand(rows, generator=draw) < 0.3] = -100
    inputs = [x, weight, *([bias] if bias is not None else [])]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROOM", room)
        given_ = vocabulary_loss(x, weight, bias, targets)
        mine = torch.autograd.grad(3 * given_, inputs)
    wanted = F.cross_entropy(F.linear(x, weight, bias), targets, ignore_index=-100, reduction="sum")
    theirs = torch.autograd.grad(3 * wanted, inputs)
    torch.testing.assert_close(given_, wanted, atol=1e-4, rtol=1e-4)
    for one, other in zip(mine, theirs):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("room", [2_000, 1 << 23])
def test_a_target_whose_share_vanishes_has_the_right_loss_and_gradient(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROOM", room)
    x = torch.full((3, 4), 50.0)
    x[2] = 0.01  # beside two that are sure and wrong, one that is not
    weight, targets = torch.randn(2_000, 4) * 20, torch.tensor([3, 1_999, 7])
    doubles, singles = ([each.clone().requires_grad_() for each in (x.to(kind), weight.to(kind))] for kind in KINDS)
    wanted = F.cross_entropy(doubles[0] @ doubles[1].T, targets, reduction="sum")
    found = vocabulary_loss(singles[0], singles[1], None, targets)
    assert wanted.item() > 500, "no such share in float32"
    assert found.item() == pytest.approx(wanted.item(), rel=1e-4)
    for one, other in zip(torch.autograd.grad(found, singles), torch.autograd.grad(wanted, doubles)):
        torch.testing.assert_close(one, other.float(), atol=1e-2, rtol=1e-3)


def test_a_batch_without_targets_costs_nothing() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    loss = vocabulary_loss(x, torch.randn(9, 4), None, torch.full((3,), -100))
    loss.backward()
    assert loss.item() == 0
    assert x.grad is not None
    assert not x.grad.any()


def test_no_gradients_are_computed_where_nobody_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, bias = torch.randn(5, 4), torch.randn(9, 4, requires_grad=True), torch.zeros(9)
    targets = torch.randint(9, (5,))
    learnt = vocabulary_loss(x, weight, bias, targets).item()

    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("an evaluation needs no gradients")

    monkeypatch.setattr(torch, "mm", refuse)
    monkeypatch.setattr(torch.Tensor, "addmm_", refuse)
    with torch.no_grad():
        assert vocabulary_loss(x, weight, bias, targets).item() == learnt


def test_in_half_precision_only_the_gradients_are_rounded() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(40, 16, requires_grad=True), torch.randn(300, 16, requires_grad=True)
    targets = torch.randint(300, (40,))
    whole = vocabulary_loss(x, weight, None, targets)
    with torch.autocast("cpu", torch.bfloat16):
        half = vocabulary_loss(x, weight, None, targets)
    assert half.item() == whole.item()
    for rounded, exact in zip(torch.autograd.grad(half, (x, weight)), torch.autograd.grad(whole, (x, weight))):
        assert rounded.dtype == torch.float32
        assert not torch.equal(rounded, exact)
        torch.testing.assert_close(rounded, exact, rtol=2e-2, atol=2e-2)

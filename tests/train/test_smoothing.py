"""Label smoothing against torch's own, losses and gradients."""

import pytest
import torch
import torch.nn.functional as F

from headstart.train.smoothing import smoothed_loss


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("biased", [True, False])
def test_it_is_what_torch_computes(share: float, biased: bool) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(30, 8, requires_grad=True), torch.randn(1500, 8, requires_grad=True)
    bias = torch.randn(1500, requires_grad=True) if biased else None
    targets = torch.randint(1500, (30,))
    targets[::4] = -100
    learnt = [part for part in (x, weight, bias) if part is not None]
    ours = smoothed_loss(x, weight, bias, targets, share)
    theirs = F.cross_entropy(F.linear(x, weight, bias), targets, reduction="sum", label_smoothing=share)
    torch.testing.assert_close(ours, theirs)
    for mine, reference in zip(torch.autograd.grad(ours, learnt), torch.autograd.grad(theirs, learnt)):
        torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-5)


def test_a_batch_without_targets_costs_nothing() -> None:
    x, weight = torch.randn(3, 4, requires_grad=True), torch.randn(9, 4, requires_grad=True)
    loss = smoothed_loss(x, weight, None, torch.full((3,), -100), 0.1)
    assert loss.item() == 0.0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, (x, weight)))


def test_gradients_are_the_same_bits_each_time() -> None:
    """Many positions share a target: threads must not add their gradients in whatever order they come."""
    torch.manual_seed(0)
    x, targets = torch.randn(4_000, 64), torch.randint(0, 20, (4_000,))
    weight, bias = torch.randn(300, 64, requires_grad=True), torch.randn(300, requires_grad=True)
    found = [torch.autograd.grad(smoothed_loss(x, weight, bias, targets, 0.1), (weight, bias)) for _ in range(8)]
    for again in found[1:]:
        assert torch.equal(again[0], found[0][0])
        assert torch.equal(again[1], found[0][1])

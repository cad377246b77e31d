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

"""Two passes that are to agree: losses and gradients against torch's own."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headstart.train import agreement as module
from headstart.train.agreement import agreeing_loss


def by_torch(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, share: float, strength: float) -> Tensor:
    one, other = (F.linear(each, weight, bias) for each in x)
    losses = [F.cross_entropy(scores, targets, reduction="sum", label_smoothing=share) for scores in (one, other)]
    kept = targets >= 0
    p, q = one[kept].log_softmax(1), other[kept].log_softmax(1)
    apart = F.kl_div(p, q, reduction="sum", log_target=True) + F.kl_div(q, p, reduction="sum", log_target=True)
    return sum(losses) / 2 + strength * apart


@pytest.mark.parametrize("room", [1 << 23, 5_000])
@pytest.mark.parametrize(("share", "strength"), [(0.0, 1.25), (0.1, 1.25), (0.1, 0.3)])
@pytest.mark.parametrize("biased", [True, False])
def test_it_is_what_torch_computes(
    biased: bool, share: float, strength: float, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROOM", room)
    torch.manual_seed(0)
    x = torch.randn(2, 30, 8, requires_grad=True)
    weight, bias = torch.randn(1500, 8, requires_grad=True), torch.randn(1500, requires_grad=True)
    targets = torch.randint(1500, (30,))
    targets[::4] = -100
    learnt = [x, weight, bias] if biased else [x, weight]
    found = agreeing_loss(x, weight, bias if biased else None, targets, share, strength)
    wanted = by_torch(x, weight, bias if biased else None, targets, share, strength)
    torch.testing.assert_close(found, wanted)
    for mine, reference in zip(torch.autograd.grad(3 * found, learnt), torch.autograd.grad(3 * wanted, learnt)):
        torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-4)


def test_passes_that_agree_cost_as_much_as_one() -> None:
    torch.manual_seed(0)
    x, weight, targets = torch.randn(7, 8), torch.randn(50, 8), torch.randint(50, (7,))
    found = agreeing_loss(x.expand(2, 7, 8), weight, None, targets, 0.1, 5.0)
    torch.testing.assert_close(found, F.cross_entropy(x @ weight.T, targets, reduction="sum", label_smoothing=0.1))


def test_a_batch_without_targets_costs_nothing() -> None:
    x, weight = torch.randn(2, 3, 4, requires_grad=True), torch.randn(9, 4, requires_grad=True)
    loss = agreeing_loss(x, weight, None, torch.full((3,), -100), 0.1, 1.0)
    assert loss.item() == 0.0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, (x, weight)))

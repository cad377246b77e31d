"""Cross-entropy over a large vocabulary, exact, without ever holding all scores at once.

Some positions at a time: their scores over the whole vocabulary become shares where they lie, and the gradients
follow from these. Three products and no copy; docs/LOG.md has the figures.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

ROOM = 128 * 50_001  # scores held at once: 26 MB
TINY = 1e-30  # the logarithm of a smaller share is not to be trusted


class _ExactLoss(torch.autograd.Function):
    """Over the whole vocabulary; the gradients are ready when the forward pass ends."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, learns: bool) -> Tensor:
        loss, *gradients = softmax_loss(x, weight, bias, targets, learns=learns)
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        of_x, of_weight, of_bias = ctx.saved_tensors
        return of_x.mul_(grad), of_weight.mul_(grad), of_bias.mul_(grad), None, None


def vocabulary_loss(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> Tensor:
    """The summed loss of vectors (N, D) against targets (N,), in float32; negative targets cost nothing."""
    kept = targets >= 0
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    with torch.autocast(x.device.type, enabled=False):
        return _ExactLoss.apply(x[kept].float(), weight.float(), bias.float(), targets[kept], torch.is_grad_enabled())


def softmax_loss(x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, *, learns: bool) -> tuple[Tensor, ...]:
    """Σ −log softmax(x Wᵀ + b)[target] and, where somebody learns, its gradients by x, W and b."""
    loss, size = x.new_zeros(()), max(1, ROOM // len(weight))
    room = x.new_empty(min(size, len(x)), len(weight))
    if learns:
        of_x, of_weight, of_bias = torch.empty_like(x), torch.zeros_like(weight), torch.zeros_like(bias)
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        scores = torch.addmm(bias, x[rows], weight.T, out=room[: len(x[rows])])  # (n, V)
        shares = torch.softmax(scores, 1, out=scores)
        loss += _losses(shares, x[rows], weight, bias, targets[rows]).sum()
        if learns:
            shares.scatter_add_(1, targets[rows, None], shares.new_full((len(shares), 1), -1.0))
            torch.mm(shares, weight, out=of_x[rows])
            of_weight.addmm_(shares.T, x[rows])
            of_bias += shares.sum(0)
    return (loss, of_x, of_weight, of_bias) if learns else (loss,)


def _losses(shares: Tensor, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """−log of the target's share; where that has vanished, from the scores, computed once more. (n)"""
    found = shares.gather(1, targets[:, None])[:, 0]
    losses = -found.log()
    if len(far := (found < TINY).nonzero()[:, 0]):
        scores = torch.addmm(bias, x[far], weight.T)
        losses[far] = scores.logsumexp(1) - scores.gather(1, targets[far, None])[:, 0]
    return losses

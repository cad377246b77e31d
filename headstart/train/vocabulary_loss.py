"""Cross-entropy over a large vocabulary, exact, without ever holding all scores at once.

Some positions at a time: their scores over the whole vocabulary become shares where they lie, and the gradients
follow from these. Three products and no copy; docs/LOG.md has the figures. Where a model learns in bfloat16, the loss
is still computed in float32; only the gradients are multiplied as all others are.
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
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, learns: bool, kind: torch.dtype
    ) -> Tensor:
        loss, *gradients = softmax_loss(x, weight, bias, targets, learns=learns, kind=kind)
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        of_x, of_weight, of_bias = ctx.saved_tensors
        return of_x.mul_(grad), of_weight.mul_(grad), of_bias.mul_(grad), None, None, None


def vocabulary_loss(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> Tensor:
    """The summed loss of vectors (N, D) against targets (N,), in float32; negative targets cost nothing."""
    kept, learns, kind = targets >= 0, torch.is_grad_enabled(), kind_of_gradients(x.device)
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    with torch.autocast(x.device.type, enabled=False):
        return _ExactLoss.apply(x[kept].float(), weight.float(), bias.float(), targets[kept], learns, kind)


def kind_of_gradients(device: torch.device) -> torch.dtype:
    """What gradients are multiplied in; float16 would lose the small shares of rare tokens."""
    half = torch.is_autocast_enabled(device.type) and torch.get_autocast_dtype(device.type) == torch.bfloat16
    return torch.bfloat16 if half else torch.float32


def softmax_loss(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    targets: Tensor,
    *,
    learns: bool,
    kind: torch.dtype = torch.float32,
) -> tuple[Tensor, ...]:
    """Σ −log softmax(x Wᵀ + b)[target] and, where somebody learns, its gradients by x, W and b."""
    loss, size = x.new_zeros(()), max(1, ROOM // len(weight))
    room = x.new_empty(min(size, len(x)), len(weight))
    if learns:
        gradients = Gradients(x, weight, bias, kind)
    for start in range(0, len(x), size):
        rows = slice(start, start + size)
        scores = torch.addmm(bias, x[rows], weight.T, out=room[: len(x[rows])])  # (n, V)
        shares = torch.softmax(scores, 1, out=scores)
        loss += target_losses(shares, x[rows], weight, bias, targets[rows]).sum()
        if learns:
            shares.scatter_add_(1, targets[rows, None], shares.new_full((len(shares), 1), -1.0))
            gradients.add(rows, shares)
    return (loss, gradients.of_x, gradients.of_weight, gradients.of_bias) if learns else (loss,)


class Gradients:
    """By vectors (N, D), table (V, D) and bias (V,), from the gradient of some rows of scores after the other."""

    def __init__(self, x: Tensor, weight: Tensor, bias: Tensor, kind: torch.dtype):
        self.x, self.weight, self.kind = x.to(kind), weight.to(kind), kind
        self.of_x, self.of_weight, self.of_bias = torch.empty_like(x), torch.zeros_like(weight), torch.zeros_like(bias)

    def add(self, rows: slice, of_scores: Tensor) -> None:
        """(n, V)"""
        self.of_bias += of_scores.sum(0)
        if self.kind == torch.float32:
            torch.mm(of_scores, self.weight, out=self.of_x[rows])
            self.of_weight.addmm_(of_scores.T, self.x[rows])
        else:
            half = of_scores.to(self.kind)
            self.of_x[rows] = half @ self.weight
            self.of_weight += half.T @ self.x[rows]


def target_losses(shares: Tensor, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """−log of the target's share; where that has vanished, from the scores, computed once more. (n)"""
    found = shares.gather(1, targets[:, None])[:, 0]
    losses = -found.log()
    if len(far := (found < TINY).nonzero()[:, 0]):
        scores = torch.addmm(bias, x[far], weight.T)
        losses[far] = scores.logsumexp(1) - scores.gather(1, targets[far, None])[:, 0]
    return losses

"""Cross-entropy over a large vocabulary, exact, without ever holding all scores at once.

The scores of a tile (some positions × some tokens) stay in the processor's cache. They are computed twice: once
for the sum over the vocabulary, once for the gradients. The extra product costs less than moving all scores to
memory and back (docs/LOG.md has the figures).
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

POSITIONS, TOKENS = 2048, 1024  # a tile: 8 MB of scores


class _TiledLoss(torch.autograd.Function):
    """Σ −log softmax(x Wᵀ + b)[target]; the gradients are ready when the forward pass ends."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, learns: bool) -> Tensor:
        loss = x.new_zeros(())
        grad_x, grad_weight, grad_bias = (torch.zeros_like(each) if learns else each for each in (x, weight, bias))
        for start in range(0, len(x), POSITIONS):
            rows = slice(start, start + POSITIONS)
            log_sums = _log_sums(x[rows], weight, bias)
            loss += (log_sums - (x[rows] * weight[targets[rows]]).sum(1) - bias[targets[rows]]).sum()
            if learns:
                _add_gradients(x[rows], weight, bias, log_sums, grad_x[rows], grad_weight, grad_bias)
        if learns:
            grad_x -= weight[targets]
            grad_weight.index_add_(0, targets, x, alpha=-1)
            grad_bias.index_add_(0, targets, torch.full_like(x[:, 0], -1.0))
            ctx.save_for_backward(grad_x, grad_weight, grad_bias)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_x, grad_weight, grad_bias = ctx.saved_tensors
        return grad_x.mul_(grad), grad_weight.mul_(grad), grad_bias.mul_(grad), None, None


def vocabulary_loss(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> Tensor:
    """The summed loss of vectors (N, D) against targets (N,), in float32; negative targets cost nothing."""
    kept = targets >= 0
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    with torch.autocast(x.device.type, enabled=False):
        return _TiledLoss.apply(x[kept].float(), weight.float(), bias.float(), targets[kept], torch.is_grad_enabled())


def _log_sums(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """log Σ exp(score) over the vocabulary, tile by tile, with the largest score so far taken out. (N,)"""
    room = x.new_empty(len(x) * min(TOKENS, len(weight)))
    most, total = x.new_full((len(x),), -torch.inf), x.new_zeros(len(x))
    for tokens in _tiles(weight):
        scores = _scores(x, weight[tokens], bias[tokens], room)
        larger = torch.maximum(most, scores.amax(1))
        total.mul_((most - larger).exp_())
        total += scores.sub_(larger[:, None]).exp_().sum(1)
        most = larger
    return most + total.log()


def _add_gradients(
    x: Tensor, weight: Tensor, bias: Tensor, log_sums: Tensor, grad_x: Tensor, grad_weight: Tensor, grad_bias: Tensor
) -> None:
    """Add what softmax − target gives, the target still left out."""
    room = x.new_empty(len(x) * min(TOKENS, len(weight)))
    for tokens in _tiles(weight):
        shares = _scores(x, weight[tokens], bias[tokens], room).sub_(log_sums[:, None]).exp_()
        grad_x.addmm_(shares, weight[tokens])
        grad_weight[tokens].addmm_(shares.T, x)
        grad_bias[tokens] += shares.sum(0)


def _scores(x: Tensor, weight: Tensor, bias: Tensor, room: Tensor) -> Tensor:
    scores = room[: len(x) * len(weight)].view(len(x), len(weight))
    return torch.addmm(bias, x, weight.T, out=scores)


def _tiles(weight: Tensor) -> list[slice]:
    return [slice(start, start + TOKENS) for start in range(0, len(weight), TOKENS)]

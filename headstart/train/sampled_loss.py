"""Cross-entropy over a large vocabulary from a sample of it: all targets of the batch, and some other tokens.

    log Σ exp(s)  ≈  log (Σ targets exp(s) + Σ drawn exp(s) / chance of being drawn)

Each other token is drawn by itself, with a chance that grows with its frequency. Dividing by that chance makes the
sum right on average, so a model trained this way has the right probabilities in the exact softmax, with which it
is always evaluated. Only the rows of the sample are read, and only they get a gradient.
"""

from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headstart.train.rows import keeps_rows, row_gradient, wake
from headstart.train.vocabulary_loss import softmax_loss

PIECE = 1 << 22  # ids counted at once


class Sampler:
    """Draws about `negatives` tokens from torch's own generator, which the training loop seeds anew for each step.

    A token's chance grows with its count to the power `flatness`, and is at most 1; none has no chance.
    Several workers each draw their own sample.
    """

    def __init__(self, counts: Tensor, negatives: int, flatness: float = 0.75):
        assert negatives > 0
        assert counts.dim() == 1
        self.chances = chances_of(counts.double().clamp(min=1) ** flatness, negatives).float()
        self.weights = -self.chances.log()  # what a drawn token's score is raised by

    @classmethod
    def of(cls, ids: np.ndarray, vocabulary: int, negatives: int, device: torch.device | str = "cpu") -> Self:
        """For the tokens of a corpus, which may be larger than memory."""
        counts = np.zeros(vocabulary, np.int64)
        for start in range(0, len(ids), PIECE):
            counts += np.bincount(ids[start : start + PIECE], minlength=vocabulary)
        return cls(torch.from_numpy(counts).to(device), negatives)

    def draw(self, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The sampled tokens (C), what is added to their scores (C), and where each target stands in them (N)."""
        drawn = torch.rand_like(self.chances) < self.chances
        weights = self.weights.index_fill(0, targets, 0.0)  # a target is there for certain
        drawn[targets] = True
        places = drawn.cumsum(0) - 1
        tokens = drawn.nonzero().squeeze(1)
        return tokens, weights[tokens], places[targets]


def chances_of(shares: Tensor, number: int) -> Tensor:
    """Chances in proportion to `shares` that add up to `number`, none above 1."""
    if number >= len(shares):
        return torch.ones_like(shares)
    sure = torch.zeros_like(shares, dtype=torch.bool)
    while True:
        chances = shares * ((number - sure.sum()) / shares[~sure].sum())
        chances[sure] = 1.0
        if not (chances > 1).any():
            return chances
        sure |= chances > 1


class _SampledLoss(torch.autograd.Function):
    """Σ −log softmax over the sample; the gradients are ready when the forward pass ends."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, tokens: Tensor, raised: Tensor, places: Tensor
    ) -> Tensor:
        rows = weight[tokens]  # (C, D)
        offsets = raised if bias is None else raised + bias[tokens]  # (C)
        loss, grad_x, grad_rows, grad_offsets = softmax_loss(x, rows, offsets, places, learns=True)
        ctx.save_for_backward(grad_x, grad_rows, grad_offsets, tokens)
        ctx.size, ctx.sparse, ctx.has_bias = len(weight), keeps_rows(weight), bias is not None
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_x, grad_rows, grad_offsets, tokens = ctx.saved_tensors
        of_weight = row_gradient(tokens, grad_rows.mul_(grad), ctx.size, sparse=ctx.sparse)
        of_bias = row_gradient(tokens, grad_offsets.mul_(grad), ctx.size, sparse=ctx.sparse) if ctx.has_bias else None
        return grad_x.mul_(grad), of_weight, of_bias, None, None, None


def sampled_loss(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, sampler: Sampler) -> Tensor:
    """The summed loss of vectors (N, D) against targets (N,), in float32; negative targets cost nothing."""
    kept = targets >= 0
    x, targets = x[kept].float(), targets[kept]
    tokens, raised, places = sampler.draw(targets)
    for table in (weight,) if bias is None else (weight, bias):
        wake(table, tokens)
    with torch.autocast(x.device.type, enabled=False):
        return _SampledLoss.apply(x, weight, bias, tokens, raised, places)

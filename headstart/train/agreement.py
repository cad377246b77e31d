"""Two passes over a text, each with a dropout of its own, are to say the same  (R-Drop; Liang et al., 2021).

With shares p and q of the vocabulary from scores s and r, and target t, one position costs

    −½ (log p(t) + log q(t)) + strength (KL(p‖q) + KL(q‖p)),     KL(p‖q) + KL(q‖p)  =  Σᵥ (p − q) (s − r)

and the gradient of the sum by s is (p − q) + p (d − Σᵥ p d) with d = s − r; that by r is its mirror image.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headstart.train.smoothing import spread
from headstart.train.vocabulary_loss import ROOM, Gradients, kind_of_gradients, target_losses


class _AgreeingLoss(torch.autograd.Function):
    """Over the whole vocabulary, a tile at a time; the gradients are ready when the forward pass ends.

    A tile holds its scores about five times: those of both passes, how they differ, and what is made of them.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, strength: float, kind: torch.dtype
    ) -> Tensor:
        loss, size = x.new_zeros(()), max(1, ROOM // len(weight))
        gradients = Gradients(x.flatten(0, 1), weight, bias, kind)
        for start in range(0, x.size(1), size):
            rows = slice(start, start + size)
            scores = [torch.addmm(bias, one[rows], weight.T) for one in x]  # (n, V) twice
            d = scores[0] - scores[1]
            shares = [torch.softmax(each, 1, out=each) for each in scores]
            apart = shares[0] - shares[1]
            loss += strength * (apart * d).sum()
            for i, sign in enumerate((1, -1)):
                loss += target_losses(shares[i], x[i, rows], weight, bias, targets[rows]).sum() / 2
                # ½ p + strength (± (p − q) + p (± d − Σ ± p d)), then −½ at the target
                middle = (shares[i] * d).sum(1, keepdim=True)
                pull = shares[i].mul_((d - middle).mul_(sign * strength).add_(0.5)).add_(apart, alpha=sign * strength)
                pull.scatter_add_(1, targets[rows, None], pull.new_full((len(pull), 1), -0.5))
                gradients.add(slice(i * x.size(1) + start, i * x.size(1) + start + len(pull)), pull)
        ctx.save_for_backward(gradients.of_x.view_as(x), gradients.of_weight, gradients.of_bias)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        of_x, of_weight, of_bias = ctx.saved_tensors
        return of_x.mul_(grad), of_weight.mul_(grad), of_bias.mul_(grad), None, None, None


def agreeing_loss(
    x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, share: float, strength: float
) -> Tensor:
    """The summed loss of two passes' vectors (2, N, D) against targets (N,), smoothed by `share`, in float32.

    Negative targets cost nothing.
    """
    places, kind = (targets >= 0).nonzero()[:, 0], kind_of_gradients(x.device)
    with torch.autocast(x.device.type, enabled=False):
        x, targets, weight = x.index_select(1, places).float(), targets[places], weight.float()
        offsets = weight.new_zeros(len(weight)) if bias is None else bias.float()
        loss: Tensor = _AgreeingLoss.apply(x, weight, offsets, targets, strength, kind)
        return loss + share / 2 * spread(x.flatten(0, 1), weight, bias, targets.repeat(2)) if share else loss

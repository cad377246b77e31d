"""Label smoothing: a share of every target is spread evenly over the vocabulary, so that nothing is ever quite sure.

The loss of one position, with scores s over V tokens, target t and share ε:

    −(1 − ε) log p(t) − ε/V Σᵥ log p(v)  =  −log p(t) + ε (s(t) − mean s)

The mean of all scores is the score under the mean row of the table: no sum over the vocabulary is needed for it.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from headstart.train.vocabulary_loss import vocabulary_loss


def smoothed_loss(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, share: float) -> Tensor:
    """The summed loss of vectors (N, D) against targets (N,), in float32; negative targets cost nothing."""
    places = (targets >= 0).nonzero()[:, 0]
    x, targets = x.index_select(0, places), targets[places]
    exact = vocabulary_loss(x, weight, bias, targets)
    if not share:
        return exact
    with torch.autocast(x.device.type, enabled=False):
        return exact + share * spread(x.float(), weight.float(), bias, targets)


def spread(x: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> Tensor:
    """Σ (s(t) − mean s) of vectors (N, D)."""
    # F.embedding, for the gradient of `weight[targets]` is summed by threads in whatever order they come
    found = (x * F.embedding(targets, weight)).sum() - x.sum(0) @ weight.mean(0)
    if bias is None:
        return found
    return found + (F.embedding(targets, bias.float()[:, None])[:, 0] - bias.float().mean()).sum()

"""The few tokens that can win, found in int8 and scored again in float32.

The output table is the largest thing that writing a token reads. In int8 it is a quarter of that, and the error of
each score has a bound, so that a token that might be among the best is never left out: the choice is made among the
same exact scores as without the shortlist.
"""

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from headstart.generate.choose import Candidates
from headstart.model.heads import VocabularyHead

SMALLEST = 4_096  # for fewer tokens the plain product is as fast
LEVELS = 127  # of an input: seven bits, so that no sum of two products overflows 16 bits
SLACK = 1.001  # for the rounding of the bound itself
CHUNK = 1_024  # tokens rounded at a time: they stay in the processor's cache
BLOCK = 64  # tokens that are looked through together, and at most one of so many is asked for


class Shortlist:
    """For vectors (B, D), candidates that contain the `best` highest scores of each row, with their exact scores."""

    def __init__(self, head: VocabularyHead, forbidden: Sequence[int], best: int):
        self.head, self.best = head, best
        weight = head.weight.detach()
        filling = -len(weight) % BLOCK
        bias = weight.new_zeros(len(weight)) if head.bias is None else head.bias.detach().clone()
        bias[list(forbidden)] = -torch.inf
        self.bias = torch.cat([bias, bias.new_full((filling,), -torch.inf)])
        whole, steps, lengths, errors = rounded_rows(weight, filling)
        self.packed = pack_int8(whole, steps, self.bias)
        self.most_length, self.most_error = float(lengths.max()), float(errors.max())

    def __call__(self, x: Tensor) -> Candidates:
        """(B, D) -> (B, K) each, in the order of the ids; where a row has fewer, the rest scores −∞."""
        x = self.head.refine(x)
        size, shift = SLACK * x.norm(dim=1, keepdim=True), SLACK * (x - _rounded(x)).norm(dim=1, keepdim=True)  # (B, 1)
        rough = torch.ops.quantized.linear_dynamic(x, self.packed, True)  # (B, V)
        doubt = size * self.most_error + shift * self.most_length  # (B, 1)
        blocks = rough.view(len(x), -1, BLOCK)
        highest = blocks.amax(2)  # of each block; as many scores as blocks are at least as high as the lowest of these
        reached = highest.amax(1, keepdim=True) if self.best == 1 else highest.topk(self.best).values[:, -1:]
        return self._exact(x, *_places(blocks, highest, reached - 2 * doubt))

    def _exact(self, x: Tensor, rows: Tensor, ids: Tensor) -> Candidates:
        """Scores in float32 of tokens (N,) in their rows (N,)."""
        scores = torch.linalg.vecdot(x[rows], self.head.weight[ids]) + self.bias[ids]
        if len(x) == 1:
            return Candidates(scores[None], ids[None])
        counts = rows.bincount(minlength=len(x))
        places = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[rows]
        widest = int(counts.max())
        found = Candidates(x.new_full((len(x), widest), -torch.inf), rows.new_zeros(len(x), widest))
        found.scores[rows, places], found.ids[rows, places] = scores, ids
        return found


def pays(head: VocabularyHead, best: int) -> bool:
    """Is the product in int8 there for this table, and are few tokens asked for?"""
    able = torch.backends.quantized.engine in ("x86", "fbgemm") and hasattr(torch.ops.quantized, "linear_dynamic")
    plain = head.weight.device.type == "cpu" and head.weight.dtype == torch.float32
    return able and plain and len(head.weight) >= max(SMALLEST, BLOCK * best) and best > 0


def rounded_rows(weight: Tensor, filling: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Each row of a table (V, D) in whole steps of its own, with rows of zeros at the end.

    The whole numbers (V, D), the steps, how long the rounded rows are, and how far from where they were, (V,) each.
    """
    whole = torch.zeros(len(weight) + filling, weight.size(1), dtype=torch.int8)
    steps, (lengths, errors) = torch.ones(len(whole)), torch.zeros(2, len(whole))
    for start in range(0, len(weight), CHUNK):
        chunk = slice(start, min(start + CHUNK, len(weight)))
        steps[chunk] = (weight[chunk].abs().amax(1) / 127).clamp_(min=1e-30)
        rounded = (weight[chunk] / steps[chunk, None]).round_()
        whole[chunk] = rounded
        rounded.mul_(steps[chunk, None])
        lengths[chunk] = torch.linalg.vector_norm(rounded, dim=1)
        errors[chunk] = torch.linalg.vector_norm(rounded.sub_(weight[chunk]), dim=1)
    return whole, steps, lengths, errors


def pack_int8(whole: Tensor, steps: Tensor, bias: Tensor) -> object:
    """The table for torch's int8 product, which rounds the inputs itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the type is to go in some later release
        zeros = torch.zeros(len(whole), dtype=torch.long)
        table = torch._make_per_channel_quantized_tensor(whole, steps.double(), zeros, 0)
        return torch.ops.quantized.linear_prepack(table, bias)


def _rounded(x: Tensor) -> Tensor:
    """Each row as the int8 product sees it: all rows share a scale, which has a place for zero."""
    low, high = x.amin().clamp(max=0), x.amax().clamp(min=0)
    step = ((high - low) / LEVELS).clamp(min=1e-30)
    zero = (-low / step).round()
    return ((x / step).round() + zero).clamp(0, LEVELS).sub(zero) * step


def _places(blocks: Tensor, highest: Tensor, least: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and ids of scores (B, blocks, BLOCK) that are at least as high as `least` (B, 1), in order.

    Few are, so only blocks whose highest score (B, blocks) is are looked through.
    """
    rows, some = (highest >= least).nonzero(as_tuple=True)
    found, within = (blocks[rows, some] >= least[rows]).nonzero(as_tuple=True)
    return rows[found], some[found] * BLOCK + within

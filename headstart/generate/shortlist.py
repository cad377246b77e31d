"""The few tokens that can win, found in int8 and scored again in float32.

The output table is the largest thing that writing a token reads. In int8 it is a quarter of that, and the error of
each score has a bound, so that a token that might be among the best is never left out: the choice is made among the
same exact scores as without the shortlist.
"""

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headstart.generate.choose import Candidates
from headstart.model.heads import VocabularyHead

SMALLEST = 4_096  # for fewer tokens the plain product is as fast
WIDE = torch.cpu._is_vnni_supported()  # sums in 32 bits; older processors add two products in 16: inputs of seven bits
SLACK = 1.001  # for the rounding of the bound itself
CHUNK = 1_024  # tokens rounded at a time: they stay in the processor's cache
BLOCK = 64  # tokens that are looked through together, and at most one of so many is asked for

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


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
        self.table, self.shifts = weight.numpy(), self.bias.numpy()

    def __call__(self, x: Tensor) -> Candidates:
        """(B, D) -> (B, K) each, in the order of the ids; where a row has fewer, the rest scores −∞.

        What follows the product is in NumPy: its calls are shorter, and after so large a product all of them are cold.
        """
        x = self.head.refine(x)
        doubt = self._doubt(x).numpy()
        rough = torch.ops.quantized.linear_dynamic(x, self.packed, not WIDE).view(len(x), -1, BLOCK)
        highest = rough.amax(2).numpy()  # (B, blocks); as many scores as blocks are at least as high as the lowest one
        reached = np.partition(highest, -self.best)[:, [-self.best]] if self.best > 1 else highest.max(1, keepdims=True)
        return self._scored(x.numpy(), *_places(rough.numpy(), highest, reached - 2 * doubt))

    def _doubt(self, x: Tensor) -> Tensor:
        """How far a rough score of each row (B, D) may be from the exact one, at most. -> (B, 1)"""
        moved = x - as_seen(x)
        length, shift = torch.linalg.vector_norm(torch.stack([x, moved]), dim=2, keepdim=True)
        return length * (SLACK * self.most_error) + shift * (SLACK * self.most_length)

    def _scored(self, x: Floats, rows: Places, ids: Places) -> Candidates:
        """Scores in float32 of tokens (N,) in their rows (N,), in the order of the rows."""
        if len(x) == 1:
            return Candidates(*map(torch.from_numpy, ((self.table[ids] @ x[0] + self.shifts[ids])[None], ids[None])))
        scores = np.einsum("nd,nd->n", x[rows], self.table[ids]) + self.shifts[ids]
        counts = np.bincount(rows, minlength=len(x))
        within = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
        found, named = np.full((len(x), counts.max()), -np.inf, np.float32), np.zeros((len(x), counts.max()), np.int64)
        found[rows, within], named[rows, within] = scores, ids
        return Candidates(torch.from_numpy(found), torch.from_numpy(named))


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


def as_seen(x: Tensor) -> Tensor:
    """Each row as the int8 product sees it: all rows share a scale, which has a place for zero."""
    return torch.quantize_per_tensor_dynamic(x, torch.quint8, not WIDE).dequantize()


def _places(rough: Floats, highest: Floats, least: Floats) -> tuple[Places, Places]:
    """Rows and ids of scores (B, blocks, BLOCK) that are at least as high as `least` (B, 1), in order.

    Few are, so only blocks whose highest score (B, blocks) is are looked through.
    """
    rows, blocks = np.nonzero(highest >= least)
    found, within = np.nonzero(rough[rows, blocks] >= least[rows])
    return rows[found], blocks[found] * BLOCK + within

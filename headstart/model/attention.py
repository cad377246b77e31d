"""Attention: softmax(q kᵀ / √K) v  (Vaswani et al., 2017, equation 1)."""

from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headstart.model.masks import causal_mask
from headstart.model.positions import turned
from headstart.model.shape import Shape

LONG = 512 * 512  # queries times keys, from which on torch's kernel is faster on a processor


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    """How much each query looks at each key; one that may look at nothing gets zeros. -> (B, H, T, S)"""
    scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)  # q kᵀ / √K
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    seeing = mask.any(dim=-1, keepdim=True)
    return weights if seeing.all() else weights * seeing


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *, square: bool, dropout: float) -> Tensor:
    """softmax(q kᵀ / √K) v; `square` stands for the causal mask. (B, H, T, K), (B, H, S, K) twice -> (B, H, T, K)

    torch's own kernel multiplies head by head. On a processor that costs more than the scores of short texts, which
    are therefore held at once: an attention of them is learnt many times as fast (docs/LOG.md).
    """
    if q.device.type != "cpu" or dropout or q.size(-2) * k.size(-2) >= LONG:
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=square)
    return attention_weights(q, k, causal_mask(q.size(-2), k.size(-2), q.device) if square else mask) @ v


class Sight(NamedTuple):
    """What one pass may look at: its own text, and what an encoder wrote of another one."""

    mask: Tensor | None = None
    square: bool = False  # stands for the causal mask, and is faster
    angles: Tensor | None = None  # of rotary positions
    memory: Tensor | None = None
    memory_mask: Tensor | None = None
    memory_angles: tuple[Tensor, Tensor] | None = None  # of queries and keys, where a text is its own memory

    def only(self, at: Tensor, text: Tensor) -> "Sight":
        """What the position `at` (B,) of each text sees of it, (B, T, D), as a memory."""
        (b, t, _), rows = text.shape, torch.arange(len(at), device=at.device)
        mask = causal_mask(t, t, at.device) if self.square else self.mask
        mask = None if mask is None else mask.expand(b, 1, t, t)[rows, :, at, None]  # (B, 1, 1, T)
        turns = None if self.angles is None else (self.angles.expand(b, t, -1)[rows, at, None], self.angles)
        return Sight(memory=text, memory_mask=mask, memory_angles=turns)


class Past(Protocol):
    """What one layer has already computed of a text; `headstart/generate/past.py` keeps it."""

    length: int
    memory: list[Tensor]  # none yet, or keys and values of the memory, (B, H, S, K) each

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append keys and values, (B, H, T, K) each, and return all there is, (B, H, S, K) each."""


class Attention(nn.Module):
    """Multi-head attention, from a text to itself or to a memory (section 3.2.2).

    One matrix makes queries, keys and values (D rows of it each); a second one mixes the heads.
    """

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads, self.dropout = shape.heads, shape.attention_dropout
        self.project = nn.Linear(shape.width, 3 * shape.width)
        self.output = nn.Linear(shape.width, shape.width)
        self.watched: list[Tensor] | None = None  # give it a list and the weights of each pass are put there

    def forward(self, x: Tensor, sight: Sight, past: Past | None = None) -> Tensor:
        """From (B, T, D) to itself and to its past. -> (B, T, D)"""
        q, k, v = map(self.split, self.project(x).chunk(3, dim=-1))
        if sight.angles is not None:
            q, k = turned(q, sight.angles), turned(k, sight.angles)
        k, v = past.extend(k, v) if past else (k, v)
        return self.mix(q, k, v, sight.mask, sight.square)

    def read(self, x: Tensor, sight: Sight, past: Past | None = None) -> Tensor:
        """From (B, T, D) to the memory (B, S, D), whose keys and values are computed once. -> (B, T, D)

        Rows that stand side by side may share a memory, which then has n times fewer: (B / n, S, D).
        """
        assert sight.memory is not None
        d, weight, bias = x.size(-1), self.project.weight, self.project.bias
        q = self.split(F.linear(x.reshape(len(sight.memory), -1, d), weight[:d], bias[:d]))  # (B / n, H, n T, K)
        memory = past.memory if past else []
        if not memory:
            parts = F.linear(sight.memory, weight[d:], bias[d:]).chunk(2, dim=-1)
            memory += [self.split(part).contiguous() if past else self.split(part) for part in parts]  # read often
        k, v = memory
        if sight.memory_angles:
            q, k = map(turned, (q, k), sight.memory_angles)
        return self.mix(q, k, v, sight.memory_mask).view_as(x)

    def mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, square: bool = False) -> Tensor:
        """Queries (B, H, T, K), keys and values (B, H, S, K) -> (B, T, D)"""
        if self.watched is not None:
            seen = causal_mask(q.size(-2), k.size(-2), q.device) if square else mask
            self.watched.append(attention_weights(q, k, seen))
        mixed = attend(q, k, v, mask, square=square, dropout=self.dropout * self.training)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, K)"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

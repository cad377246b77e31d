"""Attention: softmax(q kᵀ / √K) v  (Vaswani et al., 2017, equation 1)."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headstart.model.masks import causal_mask
from headstart.model.positions import Rotary
from headstart.model.shape import Shape


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    """How much each query looks at each key; one that may look at nothing gets zeros. -> (B, H, T, S)"""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0)


class Sight(NamedTuple):
    """What one pass may look at: its own text, and what an encoder wrote of another one."""

    mask: Tensor | None = None
    square: bool = False  # stands for the causal mask, and is faster
    positions: Tensor | None = None
    memory: Tensor | None = None
    memory_mask: Tensor | None = None


class Past:
    """Keys and values that one attention has already computed, in room that grows by doubling."""

    def __init__(self) -> None:
        self.length = 0
        self.room: Tensor | None = None  # (2, B, H, ≥ length, K): keys, then values

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append (B, H, T, K) each, and return all there is, (B, H, S, K) each."""
        start, self.length = self.length, self.length + k.size(-2)
        room = k.new_empty(2, *k.shape[:2], 32, k.size(-1)) if self.room is None else self.room
        self.room = F.pad(room, (0, 0, 0, 2 * self.length)) if self.length > room.size(-2) else room
        self.room[..., start : self.length, :] = torch.stack([k, v])
        return self.everything()

    def everything(self) -> tuple[Tensor, Tensor]:
        assert self.room is not None
        return self.room[0, :, :, : self.length], self.room[1, :, :, : self.length]

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder rows of the batch, as beam search does."""
        if self.room is not None:
            self.room = self.room[:, rows]


class Attention(nn.Module):
    """Multi-head attention, from a text to itself or to a memory.

    One matrix makes queries, keys and values (D rows of it each); a second one mixes the heads.
    """

    def __init__(self, shape: Shape, rotary: Rotary | None = None):
        super().__init__()
        self.heads, self.rotary, self.dropout = shape.heads, rotary, shape.attention_dropout
        self.project = nn.Linear(shape.width, 3 * shape.width)
        self.output = nn.Linear(shape.width, shape.width)
        self.watched: list[Tensor] | None = None  # give it a list and the weights of each pass are put there

    def forward(self, x: Tensor, sight: Sight, past: Past | None = None) -> Tensor:
        """From (B, T, D) to itself and to its past. -> (B, T, D)"""
        q, k, v = map(self.split, self.project(x).chunk(3, dim=-1))
        if self.rotary is not None:
            q, k = self.rotary(q, sight.positions), self.rotary(k, sight.positions)
        k, v = past.extend(k, v) if past else (k, v)
        return self.mix(q, k, v, sight.mask, sight.square)

    def read(self, x: Tensor, sight: Sight, past: Past | None = None) -> Tensor:
        """From (B, T, D) to the memory (B, S, D), whose keys and values are computed once. -> (B, T, D)

        Rows that stand side by side may share a memory, which then has n times fewer: (B / n, S, D).
        """
        assert sight.memory is not None
        (d, _), weight, bias = self.output.weight.shape, self.project.weight, self.project.bias
        q = self.split(F.linear(x.reshape(len(sight.memory), -1, d), weight[:d], bias[:d]))  # (B / n, H, n T, K)
        if past and past.length:
            return self.mix(q, *past.everything(), sight.memory_mask).view_as(x)
        k, v = map(self.split, F.linear(sight.memory, weight[d:], bias[d:]).chunk(2, dim=-1))
        return self.mix(q, *(past.extend(k, v) if past else (k, v)), sight.memory_mask).view_as(x)

    def mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, square: bool = False) -> Tensor:
        """Queries (B, H, T, K), keys and values (B, H, S, K) -> (B, T, D)"""
        if self.watched is not None:
            seen = causal_mask(q.size(-2), k.size(-2), q.device) if square else mask
            self.watched.append(attention_weights(q, k, seen))
        mixed = F.scaled_dot_product_attention(q, k, v, mask, self.dropout * self.training, is_causal=square)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, K)"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

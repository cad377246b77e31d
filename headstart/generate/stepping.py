"""One more token of each row through a body: the numbers that `Body` gives, with far fewer calls.

A token costs so little that to call one module after the other takes most of the time.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headstart.generate.past import GrowingPast
from headstart.model.body import Body
from headstart.model.positions import Sinusoidal, angles, turned

Product = Callable[[Tensor], Tensor]


class _Layer(NamedTuple):
    project: Product
    output: Product
    inner: Product
    outer: Product
    attention_norm: Product
    feed_forward_norm: Product


class Stepper:
    """`step` follows a pass of `body` that filled the pasts."""

    def __init__(self, body: Body):
        self.body, self.heads, self.pre = body, body.shape.heads, body.shape.norm == "pre"
        self.activation = torch.relu if body.shape.activation == "relu" else F.gelu
        self.rotary = body.shape.positions == "rotary"

    def step(self, ids: Tensor, at: Tensor | int, mask: Tensor | None, pasts: Sequence[GrowingPast]) -> Tensor:
        """Ids (B,), which stand at positions (B,) or all at one; `mask` (B, 1, 1, S) leaves padding out. -> (B, D)"""
        x = self._embed(ids, at) if isinstance(at, int) else self.body.embed(ids, at)  # (B, D)
        turn = self._turn(torch.as_tensor(at, device=x.device)) if self.rotary else None
        layers, x = (self.for_one, x[0]) if len(ids) == 1 else (self.for_some, x)  # (D,) or (B, D)
        for layer, past in zip(layers, pasts):
            if self.pre:
                x = x + self._attend(layer, layer.attention_norm(x), turn, mask, past)
                x = x + layer.outer(self.activation(layer.inner(layer.feed_forward_norm(x))))
            else:
                x = layer.attention_norm(x + self._attend(layer, x, turn, mask, past))
                x = layer.feed_forward_norm(x + layer.outer(self.activation(layer.inner(x))))
        return self.body.final_norm(x).view(len(ids), -1)

    def _embed(self, ids: Tensor, at: int) -> Tensor:
        """As the body does it, with the vector of the one position read once. -> (B, D)"""
        body, place = self.body, self.body.positions
        x = body.embedding.weight[ids] * body.scale
        if isinstance(place, Sinusoidal) and at < len(place.table):
            x = x + place.table[at]
        elif place is not None:
            x = x + place(torch.tensor([at], device=x.device))
        if body.segments is not None:
            x = x + body.segments.weight[0]
        return body.embedding_norm(x)

    def _turn(self, positions: Tensor) -> Tensor:
        return angles(positions.view(-1, 1).float(), self.body.shape.width // self.heads)  # (B or 1, 1, K / 2)

    def _attend(self, layer: _Layer, x: Tensor, turn: Tensor | None, mask: Tensor | None, past: GrowingPast) -> Tensor:
        rows = len(x) if x.dim() == 2 else 1
        new = layer.project(x).view(rows, 3, self.heads, 1, -1).transpose(0, 1)  # (3, B, H, 1, K)
        if turn is not None:
            new = torch.cat([turned(new[:2], turn), new[2:]])
        q, (k, v) = new[0], past.add(new[1:])
        return layer.output(F.scaled_dot_product_attention(q, k, v, mask).view(x.shape))

    @cached_property
    def for_one(self) -> list[_Layer]:
        return [_layer(block, _of_one) for block in self.body.blocks]

    @cached_property
    def for_some(self) -> list[_Layer]:
        return [_layer(block, _of_some) for block in self.body.blocks]


def _layer(block: nn.Module, product: Callable[[nn.Module], Product]) -> _Layer:
    names = ("attention.project", "attention.output", "feed_forward.inner", "feed_forward.outer")
    norms = ("attention_norm", "feed_forward_norm")
    products = [product(block.get_submodule(name)) for name in names]
    return _Layer(*products, *(_norm(block.get_submodule(name)) for name in norms))


def _of_one(linear: nn.Module) -> Product:
    """x Wᵀ + b of a vector."""
    assert isinstance(linear, nn.Linear)
    weight, bias = linear.weight, linear.bias
    return lambda x: torch.addmv(bias, weight, x)


def _of_some(linear: nn.Module) -> Product:
    """x Wᵀ + b of a few rows, over a copy of the table that lies as this product wants it."""
    assert isinstance(linear, nn.Linear)
    weight, bias = linear.weight.t().contiguous(), linear.bias
    return lambda x: torch.addmm(bias, x, weight)


def _norm(norm: nn.Module) -> Product:
    assert isinstance(norm, nn.LayerNorm)
    shape, weight, bias, least = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, least)

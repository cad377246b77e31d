"""One layer: look at the others, then think alone."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headstart.model.attention import Attention, Past, Sight
from headstart.model.shape import Shape


class FeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂ at every position (section 3.3, equation 2), or with a GELU for the maximum."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.inner = nn.Linear(shape.width, shape.hidden)
        self.outer = nn.Linear(shape.hidden, shape.width)
        self.activation = F.relu if shape.activation == "relu" else F.gelu

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(self.activation(self.inner(x)))  # (B, T, D)


class Block(nn.Module):
    """Each part's output is added to its input (section 3.1); a norm comes after that, or before the part.

    post: x ← norm(x + part(x))        pre: x ← x + part(norm(x))
    With `reads_memory` a layer also attends to what an encoder wrote.
    """

    def __init__(self, shape: Shape, reads_memory: bool = False):
        super().__init__()
        self.pre = shape.norm == "pre"
        self.attention, self.attention_norm = Attention(shape), nn.LayerNorm(shape.width, shape.norm_epsilon)
        if reads_memory:
            self.reader, self.reader_norm = Attention(shape), nn.LayerNorm(shape.width, shape.norm_epsilon)
        self.feed_forward, self.feed_forward_norm = FeedForward(shape), nn.LayerNorm(shape.width, shape.norm_epsilon)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, sight: Sight, past: Past | None = None, at: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D), or (B, 1, D) if only the position `at` (B,) of each text is asked for."""
        if at is None:
            x = self.add(lambda x: self.attention(x, sight, past), self.attention_norm, x)
        else:  # it reads its own text as it would a memory
            assert past is None
            text = sight.only(at, self.attention_norm(x) if self.pre else x)
            x = x[torch.arange(len(x), device=x.device), at, None]
            x = self.add(lambda x: self.attention.read(x, text), self.attention_norm, x)
        if sight.memory is not None:
            x = self.add(lambda x: self.reader.read(x, sight, past), self.reader_norm, x)
        return self.add(self.feed_forward, self.feed_forward_norm, x)

    def add(self, part: Callable[[Tensor], Tensor], norm: nn.LayerNorm, x: Tensor) -> Tensor:
        return x + self.dropout(part(norm(x))) if self.pre else norm(x + self.dropout(part(x)))

"""The part that is replaced when the task changes."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headstart.model.shape import Shape


class VocabularyHead(nn.Module):
    """A score for every token: x Wᵀ + b, where W is its own or (tied) the embedding table."""

    def __init__(self, shape: Shape, embedding: nn.Embedding):
        super().__init__()
        self.weight = embedding.weight if shape.tied else nn.Parameter(torch.zeros_like(embedding.weight))
        self.bias = nn.Parameter(torch.zeros(shape.vocabulary)) if shape.output_bias else None

    def refine(self, x: Tensor) -> Tensor:
        """All that comes before the large product. (..., D) -> (..., D)"""
        return x

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., V)"""
        return F.linear(self.refine(x), self.weight, self.bias)


class MaskedHead(VocabularyHead):
    """BERT's: a dense layer, GELU and a norm, then the embedding table with a bias of its own."""

    def __init__(self, shape: Shape, embedding: nn.Embedding):
        super().__init__(replace(shape, tied=True, output_bias=True), embedding)
        self.dense, self.norm = nn.Linear(shape.width, shape.width), nn.LayerNorm(shape.width, shape.norm_epsilon)

    def refine(self, x: Tensor) -> Tensor:
        return self.norm(F.gelu(self.dense(x)))


class ClassHead(nn.Module):
    """A score for every class, read off one vector per text; BERT's has a tanh layer, its pooler, before them."""

    def __init__(self, width: int, classes: int, *, dropout: float = 0.0, pooler: bool = False):
        super().__init__()
        self.dropout, self.scores = nn.Dropout(dropout), nn.Linear(width, classes)
        self.pooler = nn.Linear(width, width) if pooler else None

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, C)"""
        return self.scores(self.dropout(x if self.pooler is None else torch.tanh(self.pooler(x))))

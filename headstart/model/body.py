"""The part that is pretrained and carried from task to task."""

import math
from functools import reduce

import torch
from torch import Tensor, nn

from headstart.model.attention import Past, Sight
from headstart.model.block import Block, layer_norm
from headstart.model.masks import causal_mask, padding_mask, same_document_mask
from headstart.model.positions import Learned, Rotary, Sinusoidal
from headstart.model.shape import Shape

Pasts = list[tuple[Past, Past]]  # for each layer: of its own text, and of the memory that it reads


class Body(nn.Module):
    """Token ids in, one vector per position out."""

    def __init__(self, shape: Shape, *, causal: bool, reads_memory: bool = False):
        super().__init__()
        self.shape, self.causal = shape, causal
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.scale = math.sqrt(shape.width) if shape.scaled_embedding else 1.0
        added = {"sinusoidal": Sinusoidal, "learned": Learned}.get(shape.positions)
        self.positions = added(shape.context, shape.width) if added else None
        self.segments = nn.Embedding(shape.segments, shape.width) if shape.segments else None
        self.embedding_norm = layer_norm(shape) if shape.embedding_norm else None
        self.dropout = nn.Dropout(shape.embedding_dropout)
        rotary = Rotary(shape.head_width) if shape.positions == "rotary" else None
        self.blocks = nn.ModuleList(Block(shape, rotary, reads_memory) for _ in range(shape.depth))
        self.final_norm = layer_norm(shape) if shape.norm == "pre" else None

    def forward(
        self,
        ids: Tensor,
        *,
        real: Tensor | None = None,
        documents: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        memory: Tensor | None = None,
        memory_real: Tensor | None = None,
        pasts: Pasts | None = None,
        at: Tensor | None = None,
    ) -> Tensor:
        """(B, T) -> (B, T, D), or (B, 1, D) if only the vector `at` one position (B,) of each text is asked for.

        `real` and `memory_real` (B, S) are False at padding; `documents` (B, T) numbers the texts packed
        into one window; `positions` (B, T) go on from the end of `pasts` unless given.
        """
        start, new = pasts[0][0].length if pasts else 0, ids.size(1)
        if positions is None:
            positions = torch.arange(start, start + new, device=ids.device)
        sight = self.sight(positions, start, new, real, documents)
        sight = sight._replace(memory=memory, memory_mask=None if memory_real is None else padding_mask(memory_real))
        x = self.embed(ids, positions, segments)
        for i, block in enumerate(self.blocks, start=1):
            x = block(x, sight, pasts[i - 1] if pasts else (None, None), at if i == len(self.blocks) else None)
        return x if self.final_norm is None else self.final_norm(x)

    def embed(self, ids: Tensor, positions: Tensor, segments: Tensor | None = None) -> Tensor:
        """Embedding × √D, plus where the token stands, plus which of two texts it is in. -> (B, T, D)"""
        x = self.embedding(ids) * self.scale
        if self.positions is not None:
            x = x + self.positions(positions)
        if self.segments is not None:
            x = x + self.segments(torch.zeros_like(ids) if segments is None else segments)
        if self.embedding_norm is not None:
            x = self.embedding_norm(x)
        return self.dropout(x)

    def sight(self, positions: Tensor, start: int, new: int, real: Tensor | None, documents: Tensor | None) -> Sight:
        """A plain causal pass needs no mask in memory; padding, packing or a past do."""
        if self.causal and not start and real is None and documents is None:
            return Sight(None, True, positions)
        parts = [causal_mask(new, start + new, positions.device)] if self.causal and new > 1 else []
        parts += [padding_mask(real)] if real is not None else []
        parts += [same_document_mask(documents)] if documents is not None else []
        return Sight(reduce(Tensor.logical_and, parts) if parts else None, False, positions)

    def empty_pasts(self) -> Pasts:
        return [(Past(), Past()) for _ in self.blocks]

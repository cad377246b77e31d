"""The part that is pretrained and carried from task to task."""

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor, nn

from headstart.model.attention import Past, Sight
from headstart.model.block import Block
from headstart.model.masks import causal_mask, padding_mask, same_document_mask
from headstart.model.positions import Learned, Sinusoidal, angles
from headstart.model.shape import Shape


class Body(nn.Module):
    """Token ids in, one vector per position out."""

    def __init__(self, shape: Shape, *, causal: bool, reads_memory: bool = False):
        super().__init__()
        self.shape, self.causal = shape, causal
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.scale = shape.width**0.5 if shape.scaled_embedding else 1.0
        added = {"sinusoidal": Sinusoidal, "learned": Learned}.get(shape.positions)
        self.positions = added(shape.context, shape.width) if added else None
        self.segments = nn.Embedding(shape.segments, shape.width) if shape.segments else None
        self.embedding_norm = nn.LayerNorm(shape.width, shape.norm_epsilon) if shape.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(shape.embedding_dropout)
        self.blocks = nn.ModuleList(Block(shape, reads_memory) for _ in range(shape.depth))
        self.final_norm = nn.LayerNorm(shape.width, shape.norm_epsilon) if shape.norm == "pre" else nn.Identity()

    def forward(
        self,
        ids: Tensor,
        *,
        real: Tensor | None = None,
        documents: Tensor | None = None,
        seen: Tensor | None = None,
        positions: Tensor | None = None,
        segments: Tensor | None = None,
        memory: Tensor | None = None,
        memory_real: Tensor | None = None,
        pasts: Sequence[Past] | None = None,
        at: Tensor | None = None,
    ) -> Tensor:
        """(B, T) -> (B, T, D), or (B, 1, D) if only the vector `at` one position (B,) of each text is asked for.

        `real` and `memory_real` (B, S) are False at padding; `documents` (B, T) numbers the texts packed
        into one window; `seen` (B, T, S) says which keys, past ones first, a token may look at, instead of all that;
        `positions` (T) or (B, T) go on from the end of `pasts` unless given.
        """
        start = pasts[0].length if pasts else 0
        if positions is None:
            positions = torch.arange(start, start + ids.size(1), device=ids.device)
        sight = Sight(seen[:, None]) if seen is not None else self.sight(ids, start, real, documents)
        sight = sight._replace(memory=memory, memory_mask=None if memory_real is None else padding_mask(memory_real))
        if self.shape.positions == "rotary":
            sight = sight._replace(angles=angles(positions.float(), self.shape.width // self.shape.heads))
        x = self.embed(ids, positions, segments)
        for i, block in enumerate(self.blocks, start=1):
            x = block(x, sight, pasts[i - 1] if pasts else None, at if i == len(self.blocks) else None)
        return self.final_norm(x)

    def embed(self, ids: Tensor, positions: Tensor, segments: Tensor | None = None) -> Tensor:
        """Embedding × √D (section 3.4), plus where the token stands, plus which of two texts it is in. -> (B, T, D)"""
        x = self.embedding(ids) * self.scale
        if self.positions is not None:
            x = x + self.positions(positions)
        if self.segments is not None:
            x = x + self.segments(torch.zeros_like(ids) if segments is None else segments)
        return self.dropout(self.embedding_norm(x))

    def sight(self, ids: Tensor, start: int, real: Tensor | None, documents: Tensor | None) -> Sight:
        """A plain causal pass needs no mask in memory; padding, packing or a past do."""
        if self.causal and not start and real is None and documents is None:
            return Sight(square=True)
        new = ids.size(1)
        parts = [causal_mask(new, start + new, ids.device)] if self.causal and new > 1 else []
        parts += [padding_mask(real)] if real is not None else []
        parts += [same_document_mask(documents)] if documents is not None else []
        return Sight(reduce(Tensor.logical_and, parts) if parts else None)

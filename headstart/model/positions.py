"""How a transformer knows the order of its tokens."""

import torch
from torch import Tensor, nn


def angles(positions: Tensor, width: int) -> Tensor:
    """How far each pair of features turns up to position p: p / 10000^(2i/width). (..., T) -> (..., T, ⌈width/2⌉)"""
    even = torch.arange(0, width, 2, dtype=positions.dtype, device=positions.device)
    return positions[..., None] * 10_000.0 ** (-even / width)


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Fixed waves, a pair of columns per wavelength (Vaswani et al., 2017, section 3.5). (T) -> (T, D)

    PE(p, 2i) = sin(p / 10000^(2i/D))      PE(p, 2i+1) = cos(p / 10000^(2i/D))
    """
    waves = angles(positions.double(), width)  # (T, ⌈D/2⌉)
    return torch.stack([waves.sin(), waves.cos()], dim=-1).flatten(-2)[:, :width].float()  # an odd D ends with a sine


class Sinusoidal(nn.Module):
    """The fixed waves, to be added. No parameters, and defined past any length seen in training."""

    def __init__(self, context: int, width: int):
        super().__init__()
        self.table: Tensor = nn.Buffer(sinusoids(torch.arange(context), width), persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """(T) or (B, T) -> (T, D) or (B, T, D)"""
        if (end := int(positions.max()) + 1) > len(self.table):
            self.table = sinusoids(torch.arange(2 * end), self.table.size(1)).to(self.table)
        return self.table[positions]


class Learned(nn.Module):
    """One trained vector per position, to be added (GPT, BERT). There is none past the end of the table."""

    def __init__(self, context: int, width: int):
        super().__init__()
        self.table = nn.Embedding(context, width)

    def forward(self, positions: Tensor) -> Tensor:
        """(T) or (B, T) -> (T, D) or (B, T, D)"""
        if (end := int(positions.max()) + 1) > (known := self.table.num_embeddings):
            way_out = "cut it, or train with sinusoidal or rotary positions, which have no end"
            raise ValueError(f"a text of {end} tokens, but only {known} positions were learnt: {way_out}")
        return self.table(positions)


def turned(x: Tensor, angles: Tensor) -> Tensor:
    """Rotary: queries or keys (B, H, T, K), each pair of their features turned by its angle (Su et al., 2021)."""
    cos, sin = angles.cos().type_as(x).unsqueeze(-3), angles.sin().type_as(x).unsqueeze(-3)  # all heads turn alike
    left, right = x.chunk(2, dim=-1)  # (B, H, T, K/2) each
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)

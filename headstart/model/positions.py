"""How a transformer knows the order of its tokens."""

import torch
from torch import Tensor, nn

BASE = 10_000.0


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Fixed waves, a pair of columns per wavelength (Vaswani et al., 2017, section 3.5). (T) -> (T, D)

    PE(p, 2i) = sin(p / 10000^(2i/D))      PE(p, 2i+1) = cos(p / 10000^(2i/D))
    An odd width ends with a sine that has no cosine.
    """
    even = torch.arange(0, width, 2, device=positions.device)
    angles = positions.double()[:, None] * BASE ** (-even.double() / width)  # (T, ⌈D/2⌉)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :width].float()  # (T, D)


class Sinusoidal(nn.Module):
    """The fixed waves, to be added. No parameters, and defined past any length seen in training."""

    table: Tensor

    def __init__(self, context: int, width: int):
        super().__init__()
        self.register_buffer("table", sinusoids(torch.arange(context), width), persistent=False)

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


class Rotary(nn.Module):
    """Turn each pair of query and key features by an angle that grows with position (Su et al., 2021)."""

    speeds: Tensor

    def __init__(self, head_width: int):
        super().__init__()
        self.register_buffer("speeds", BASE ** (-torch.arange(0, head_width, 2) / head_width), persistent=False)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """(B, H, T, K) and the position of each token, (T) or (B, T) -> (B, H, T, K)"""
        angles = positions[..., None] * self.speeds  # (T, K/2) or (B, T, K/2)
        angles = angles if angles.dim() == 2 else angles[:, None]
        cos, sin = angles.cos().type_as(x), angles.sin().type_as(x)
        left, right = x.chunk(2, dim=-1)  # (B, H, T, K/2) each
        return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)

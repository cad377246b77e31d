"""What each layer has already computed of a text that is being written, so that only what is new is computed."""

import torch
import torch.nn.functional as F
from torch import Tensor

from headstart.model.attention import Past
from headstart.model.body import Body


class GrowingPast(Past):
    """Keys and values of one layer: of its text, in room that grows by doubling, and of the memory that it reads."""

    def __init__(self) -> None:
        self.length, self.memory = 0, []
        self.room: Tensor | None = None  # (2, B, H, ≥ length, K): keys, then values

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        k, v = self.add(torch.stack([k, v]))
        return k, v

    def add(self, new: Tensor) -> Tensor:
        """Append keys and values, (2, B, H, T, K), and return all there is, (2, B, H, S, K)."""
        start, self.length = self.length, self.length + new.size(-2)
        room = new.new_empty(*new.shape[:3], 32, new.size(-1)) if self.room is None else self.room
        self.room = F.pad(room, (0, 0, 0, 2 * self.length)) if self.length > room.size(-2) else room
        self.room.narrow(3, start, new.size(-2)).copy_(new)
        return self.room.narrow(3, 0, self.length)

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder texts."""
        self.room = None if self.room is None else self.room[:, rows]
        self.memory = [part[rows] for part in self.memory]


def empty_pasts(body: Body) -> list[GrowingPast]:
    return [GrowingPast() for _ in body.blocks]

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
        self.spare: Tensor | None = None  # where the next selection is put; what it leaves is the next spare

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
        """Keep, repeat or reorder rows of the text, as beam search does."""
        if self.room is None:
            return
        room, spare = self.room, self.spare
        if room.requires_grad:  # somebody learns through it: nothing may be written over
            self.room = room[:, rows]
            return
        if spare is None or spare.size(1) < len(rows) or spare.shape[2:] != room.shape[2:]:
            spare = room.new_empty(2, len(rows), *room.shape[2:])
        chosen = spare[:, : len(rows)]
        torch.index_select(room.narrow(3, 0, self.length), 1, rows, out=chosen.narrow(3, 0, self.length))
        self.room, self.spare = chosen, room

    def select_memory(self, rows: Tensor) -> None:
        """The same for rows of the memory, of which several texts may read one."""
        self.memory = [part[rows] for part in self.memory]


def empty_pasts(body: Body) -> list[GrowingPast]:
    return [GrowingPast() for _ in body.blocks]

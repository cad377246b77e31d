"""What a model is fed."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

IGNORED = -100  # a target that counts for nothing, as torch's cross-entropy has it
TARGETS = ("targets", "labels", "follows")  # what may be asked of a batch


@dataclass(frozen=True, eq=False)
class Batch:
    """Tensors that belong together."""

    def to(self, device: torch.device | str) -> Self:
        return replace(self, **{name: value.to(device, non_blocking=True) for name, value in self.tensors().items()})

    def share(self, rank: int, world: int) -> Self:
        """Every `world`-th row from `rank` on. A worker without a row keeps the first one, without a target."""
        if world == 1:
            return self
        rows = {name: value[rank::world] for name, value in self.tensors().items()}
        if not len(next(iter(rows.values()))):
            rows = {name: value[:1] for name, value in self.tensors().items()}
            rows |= {name: torch.full_like(rows[name], IGNORED) for name in TARGETS if name in rows}
        return replace(self, **rows)

    def tokens(self) -> int:
        """Positions computed."""
        return self.tensors()["ids"].numel()

    def tensors(self) -> dict[str, Tensor]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}


B = TypeVar("B", bound=Batch, covariant=True)


class Source(Protocol[B]):
    """Batches that can be entered anywhere. `note` is a sentence for the user, or ""."""

    note: str

    def steps(self, epoch: int) -> int: ...

    def batch(self, epoch: int, position: int) -> B: ...


def padded(rows: Sequence[np.ndarray], filling: int) -> np.ndarray:
    """Rows of any length as one table, filled up on the right. -> (B, T), int64"""
    table = np.full((len(rows), max(map(len, rows))), filling, np.int64)
    for filled, row in zip(table, rows):
        filled[: len(row)] = row
    return table

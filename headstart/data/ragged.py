"""Rows of ids of different lengths in one array: four bytes a token, where lists of numbers take ten times as much."""

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np


class Ragged(Sequence[np.ndarray]):
    """`ids` holds one row after the other; row i ends where `ends[i]` says."""

    def __init__(self, blocks: Iterable[Sequence[Sequence[int]]]):
        """Rows in blocks, each of which is let go before the next is asked for."""
        parts, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
        for block in blocks:
            sizes.append(np.fromiter(map(len, block), np.int64, len(block)))
            parts.append(np.fromiter((id for row in block for id in row), np.int32, int(sizes[-1].sum())))
        self.ids, self.ends = np.concatenate(parts), np.cumsum(np.concatenate(sizes))

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, row: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[np.ndarray]: ...
    def __getitem__(self, row: int | slice) -> np.ndarray | Sequence[np.ndarray]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        row %= len(self)
        return self.ids[self.ends[row - 1] if row else 0 : self.ends[row]]

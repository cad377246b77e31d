"""Texts of like length in one batch, so that little is wasted on padding."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from headstart.data.chance import Purpose, chance


@dataclass(frozen=True, kw_only=True)
class Bucketing:
    """A batch has at most `rows` texts and `budget` tokens, padding included, but at least one text.

    `pool` batches are sorted together: more waste less, fewer mix better.
    """

    rows: int = 16
    budget: int = 16_384
    pool: int = 50

    def __post_init__(self) -> None:
        if min(self.rows, self.budget, self.pool) < 1:
            raise ValueError("rows, budget and pool must be at least 1")


USUAL = Bucketing()
Batches = list[np.ndarray]  # the row numbers of each


class Buckets:
    """The batches of each epoch, for rows of one or more parts: `lengths` is (N) or (N, parts).

    With `shuffle` other batches each epoch, for learning. Without, the longest first, for evaluation: what does
    not fit in memory shows at once.
    """

    def __init__(self, lengths: np.ndarray, bucketing: Bucketing, *, shuffle: bool, seed: int):
        self.lengths, self.bucketing, self.seed = lengths.reshape(len(lengths), -1), bucketing, seed
        self.shuffle = shuffle
        self._remembered = lru_cache(maxsize=2)(self._shuffled if shuffle else self._sorted)

    def batches(self, epoch: int) -> Batches:
        return self._remembered(epoch if self.shuffle else 0)

    def waste(self, epoch: int) -> float:
        """The share of computed positions that are padding."""
        return self._waste(self.batches(epoch))

    def random_waste(self, rows: int) -> float:
        """The same for batches of `rows` in random order, for comparison."""
        order = chance(Purpose.BUCKETS, self.seed, 0).permutation(len(self.lengths))
        return self._waste([order[start : start + rows] for start in range(0, len(order), rows)])

    def _shuffled(self, epoch: int) -> Batches:
        """Shuffled, sorted within pools, cut, and the batches shuffled."""
        draw = chance(Purpose.BUCKETS, self.seed, epoch)
        order = draw.permutation(len(self.lengths))
        size = self.bucketing.rows * self.bucketing.pool
        pools = [order[start : start + size] for start in range(0, len(order), size)]
        batches = [batch for pool in pools for batch in self._cut(pool[_by_length(self.lengths[pool])])]
        return [batches[number] for number in draw.permutation(len(batches))]

    def _sorted(self, epoch: int) -> Batches:
        return list(self._cut(_by_length(self.lengths)[::-1].copy()))

    def _cut(self, order: np.ndarray) -> Iterator[np.ndarray]:
        """Close a batch when one more row would break a limit."""
        start, widest = 0, np.zeros(self.lengths.shape[1], self.lengths.dtype)
        for end, row in enumerate(order):
            rows, wider = end - start + 1, np.maximum(widest, self.lengths[row])
            if rows > 1 and (rows > self.bucketing.rows or rows * wider.sum() > self.bucketing.budget):
                yield order[start:end]
                start, wider = end, self.lengths[row]
            widest = wider
        if len(order):
            yield order[start:]

    def _waste(self, batches: Batches) -> float:
        computed = sum(len(batch) * int(self.lengths[batch].max(axis=0).sum()) for batch in batches)
        return 1.0 - sum(int(self.lengths[batch].sum()) for batch in batches) / computed


def _by_length(lengths: np.ndarray) -> np.ndarray:
    """The longest part of a row decides, then the others."""
    return np.lexsort((*lengths.T, lengths.max(axis=1)))

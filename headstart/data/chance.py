"""Chance as a pure function of what it is for, the seed, the epoch and the position."""

from enum import IntEnum
from functools import lru_cache

import numpy as np


class Purpose(IntEnum):
    """Each use of chance has a number of its own, so that none repeats another."""

    ORDER = 1
    PHASE = 2
    HIDING = 3
    PAIRING = 4
    BUCKETS = 5


def chance(purpose: Purpose, seed: int, epoch: int, position: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence((purpose, seed, epoch, position))))


@lru_cache(maxsize=4)
def shuffled(count: int, seed: int, epoch: int) -> np.ndarray:
    """The numbers below `count` in the order of this epoch; remembered only because it takes time."""
    order = chance(Purpose.ORDER, seed, epoch).permutation(np.arange(count, dtype=np.int64))
    order.flags.writeable = False
    return order

"""Which texts stand twice, within a part or in two of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from headstart.text.guard.nearness import THRESHOLD, nearest, nearest_earlier
from headstart.text.guard.parts import Part


@dataclass(frozen=True, eq=False)
class Twins:
    """For each row of a part, the row elsewhere (or earlier) with the same or nearly the same text, or -1.

    A row with an exact twin is not counted again among the near ones.
    """

    exact: np.ndarray
    near: np.ndarray

    @property
    def found(self) -> np.ndarray:
        return (self.exact >= 0) | (self.near >= 0)


def twins(first: Part, second: Part, threshold: float = THRESHOLD) -> Twins:
    """For each row of `second`, a row of `first` with its text, alone or as one line of a longer one."""
    exact = _lookup(first.keys, second.keys)
    exact = np.where(exact >= 0, exact, _at(first.line_rows, _lookup(first.line_keys, second.keys)))
    exact[second.empty] = -1
    near = _spread(nearest(first.sketches, second.sketches, threshold), first, second)
    near[exact >= 0] = -1
    return Twins(exact, near)


def repeats(part: Part, threshold: float = THRESHOLD) -> Twins:
    """For each row, an earlier row of the same part with its text."""
    rows = np.arange(part.rows)
    again = (part.first < rows) & ~part.empty
    near = _spread(nearest_earlier(part.sketches, threshold), part, part)
    near[again] = -1
    return Twins(np.where(again, part.first.astype(np.int64), -1), near)


def leaked_rows(test: Part, others: Iterable[Part], threshold: float = THRESHOLD) -> set[int]:
    """Rows of `test`, from 0, whose text stands in one of the others, exactly or nearly."""
    leaked: set[int] = set()
    for other in others:
        leaked.update(np.flatnonzero(twins(other, test, threshold).found).tolist())
    return leaked


def _spread(found: np.ndarray, first: Part, second: Part) -> np.ndarray:
    """From numbers of sketches to rows, the later copies of a sketched text included."""
    rows = np.full(second.rows, -1, dtype=np.int64)
    rows[second.sketched] = _at(first.sketched, found)
    return rows[second.first]


def _lookup(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each wanted key the first place where it stands, or -1."""
    order = np.argsort(keys, kind="stable")
    found = _at(order, np.searchsorted(keys, wanted, sorter=order))
    same = found >= 0
    same[same] = keys[found[same]] == wanted[same]
    return np.where(same, found, -1)


def _at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """`values[places]` as signed numbers, and -1 where there is no such place."""
    inside = (places >= 0) & (places < len(values))
    taken = np.full(len(places), -1, dtype=np.int64)
    taken[inside] = values[places[inside]]
    return taken

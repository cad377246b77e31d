"""The leak guard: which texts stand twice, within a part or in two of them, and which have two labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from headstart.text.nearness import THRESHOLD, nearest, nearest_earlier
from headstart.text.parts import Part, scan

__all__ = ["Conflicts", "Part", "Twins", "conflicts", "leaked_rows", "repeats", "scan", "twins"]


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


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Texts that carry two labels or more: how many, their rows in each part, and two rows that disagree."""

    texts: int
    rows: dict[str, np.ndarray]
    pairs: list[tuple[tuple[str, int], tuple[str, int]]]


def twins(first: Part, second: Part, threshold: float = THRESHOLD) -> Twins:
    """For each row of `second`, a row of `first` with its text."""
    order = np.argsort(first.keys, kind="stable")
    places = np.searchsorted(first.keys, second.keys, sorter=order)
    rows = _at(order, places)
    same = (rows >= 0) & ~second.empty
    same[same] = first.keys[rows[same]] == second.keys[same]
    exact = np.where(same, rows, -1)
    near = _spread(nearest(first.sketches, second.sketches, threshold), first, second)
    near[same] = -1
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


def conflicts(parts: Sequence[Part]) -> Conflicts:
    """Rows of one text, in any of the parts, that disagree on its label; rows without a label don't count."""
    names = sorted({name for part in parts for name in part.label_names})
    columns = [_labelled_rows(number, part, names) for number, part in enumerate(parts)]
    table = np.concatenate([np.empty(0, dtype=_LABELLED), *columns])
    table = table[np.argsort(table["key"], kind="stable")]
    opens = np.ones(len(table), dtype=bool)
    opens[1:] = table["key"][1:] != table["key"][:-1]
    starts, group = np.flatnonzero(opens), np.cumsum(opens) - 1
    other = table["label"] != table["label"][starts][group]
    torn, second = np.unique(group[other], return_index=True)
    against = np.flatnonzero(other)[second]
    mixed = table[np.isin(group, torn)]

    def whereabouts(entry: np.void) -> tuple[str, int]:
        return parts[entry["part"]].name, int(entry["row"])

    return Conflicts(
        texts=len(torn),
        rows={part.name: np.sort(mixed["row"][mixed["part"] == number]) for number, part in enumerate(parts)},
        pairs=[(whereabouts(a), whereabouts(b)) for a, b in zip(table[starts[torn]], table[against])],
    )


_LABELLED = np.dtype([("key", np.uint64), ("label", np.int64), ("part", np.int64), ("row", np.int64)])


def _labelled_rows(number: int, part: Part, names: Sequence[str]) -> np.ndarray:
    common = np.array([names.index(name) for name in part.label_names], dtype=np.int64)
    labelled = np.array([bool(name) for name in part.label_names], dtype=bool)
    rows = np.flatnonzero(labelled[part.labels] & ~part.empty)
    table = np.empty(len(rows), dtype=_LABELLED)
    table["key"], table["label"], table["part"], table["row"] = part.keys[rows], common[part.labels[rows]], number, rows
    return table


def _spread(found: np.ndarray, first: Part, second: Part) -> np.ndarray:
    """From numbers of sketches to rows, the later copies of a sketched text included."""
    rows = np.full(second.rows, -1, dtype=np.int64)
    rows[second.sketched] = _at(first.sketched, found)
    return rows[second.first]


def _at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """`values[places]` as signed numbers, and -1 where there is no such place."""
    inside = (places >= 0) & (places < len(values))
    taken = np.full(len(places), -1, dtype=np.int64)
    taken[inside] = values[places[inside]]
    return taken

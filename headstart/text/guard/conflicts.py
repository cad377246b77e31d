"""Which texts carry more than one label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headstart.text.guard.parts import Part


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Texts that carry two labels or more: how many, their rows in each part, and two rows that disagree."""

    texts: int
    rows: dict[str, np.ndarray]
    pairs: list[tuple[tuple[str, int], tuple[str, int]]]


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

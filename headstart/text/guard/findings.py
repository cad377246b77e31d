"""All that the guard found in the parts, and its counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from headstart.text.guard.conflicts import Conflicts, conflicts
from headstart.text.guard.nearness import THRESHOLD
from headstart.text.guard.parts import Part
from headstart.text.guard.twins import Twins, repeats, twins


@dataclass(frozen=True, eq=False)
class Findings:
    """`overlaps` has each pair of parts, in the order corpus, train, valid, test: a twin for each row of the second."""

    parts: Mapping[str, Part]
    within: Mapping[str, Twins]
    overlaps: Mapping[tuple[str, str], Twins]
    conflicts: Conflicts


def find(parts: Sequence[Part], threshold: float = THRESHOLD) -> Findings:
    return Findings(
        parts={part.name: part for part in parts},
        within={part.name: repeats(part, threshold) for part in parts},
        overlaps={(a.name, b.name): twins(a, b, threshold) for a, b in combinations(parts, 2)},
        conflicts=conflicts(parts),
    )


def counts(part: Part, found: Twins) -> dict[str, int]:
    """Rows with an exact twin, the different texts among them, and rows with a near twin only."""
    exact = found.exact >= 0
    return {
        "exact": int(exact.sum()),
        "distinct": len(np.unique(part.keys[exact])),
        "near": int((found.near >= 0).sum()),
    }


def conflict_counts(found: Conflicts) -> dict[str, Any]:
    """Texts with more than one label, and the rows of each part that hold one."""
    return {"texts": found.texts, "rows": {name: len(rows) for name, rows in found.rows.items()}}

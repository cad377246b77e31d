"""Which rows a cleaned copy leaves out, and why.

| left out of         | what                                                                                  |
|---------------------|---------------------------------------------------------------------------------------|
| corpus, train       | texts that stand in test or valid, exactly or nearly                                  |
| valid               | texts that stand in test, exactly or nearly                                           |
| train, valid        | every row of a text that has more than one label there                                |
| corpus, train, valid| empty texts, and all but the first of the rows with one text (near ones are kept)     |
| test                | nothing: a test set that each user shortens in his own way measures nothing any more  |
"""

from collections.abc import Mapping

import numpy as np

from headstart.text.guard.conflicts import conflicts
from headstart.text.guard.nearness import THRESHOLD
from headstart.text.guard.parts import Part
from headstart.text.guard.twins import twins

_KEPT_CLEAR_OF = {"corpus": ("test", "valid"), "train": ("test", "valid"), "valid": ("test",), "test": ()}
Reasons = dict[str, np.ndarray]


def rows_to_drop(parts: Mapping[str, Part], threshold: float = THRESHOLD) -> dict[str, Reasons]:
    """For each part and reason a mask of its rows; a row goes for the first reason that there is."""
    return {name: _sorted_out(_reasons(part, parts, threshold), part.rows) for name, part in parts.items()}


def _reasons(part: Part, parts: Mapping[str, Part], threshold: float) -> Reasons:
    if part.name == "test":
        return {}
    reasons = {"empty": part.empty}
    for other in _KEPT_CLEAR_OF[part.name]:
        if other in parts:
            reasons[f"in {other}"] = _stands_in(part, parts[other], threshold)
    if part.name != "corpus":
        torn = np.zeros(part.rows, dtype=bool)
        torn[conflicts([part]).rows[part.name]] = True
        reasons["two labels"] = torn
    return reasons | {"repeated": part.first < np.arange(part.rows)}


def _stands_in(part: Part, other: Part, threshold: float) -> np.ndarray:
    """Looked for from both sides, so that no pair that the report names is left."""
    mask = twins(other, part, threshold).found
    mask[part.line_rows[np.isin(part.line_keys, other.keys)]] = True
    back = twins(part, other, threshold).near
    mask[back[back >= 0]] = True
    return np.isin(part.first, part.first[mask])


def _sorted_out(reasons: Reasons, rows: int) -> Reasons:
    gone = np.zeros(rows, dtype=bool)
    first: Reasons = {}
    for reason, mask in reasons.items():
        first[reason] = mask & ~gone
        gone |= mask
    return first

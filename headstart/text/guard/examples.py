"""A few texts of each finding, fetched again from their files."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from headstart.text.guard.findings import Findings
from headstart.text.guard.inputs import Input
from headstart.text.guard.parts import full_text
from headstart.text.guard.twins import Twins

MOST = 5
LONGEST = 160
Spot = tuple[str, int]  # the name of a part, and a row of it
Pairs = list[tuple[Spot, Spot]]


def examples(findings: Findings, inputs: Iterable[Input]) -> dict[str, Any]:
    """For each kind of finding up to five pairs: file, line, label and the beginning of the text, on both sides."""
    overlaps = {names: _pairs(names[0], names[1], found) for names, found in findings.overlaps.items()}
    within = {name: _pairs(name, name, found) for name, found in findings.within.items()}
    torn = findings.conflicts.pairs[:MOST]
    texts = _texts(
        inputs, [torn, *(pairs for found in (overlaps, within) for kinds in found.values() for pairs in kinds.values())]
    )

    def side(spot: Spot) -> dict[str, Any]:
        part, row = findings.parts[spot[0]], spot[1]
        file, line = part.place(row)
        label = {"label": part.label(row)} if part.label(row) else {}
        return {"file": file, "line": line, "text": texts[spot]} | label

    def shown(pairs: Pairs) -> list[dict[str, Any]]:
        return [{"first": side(one), "second": side(other)} for one, other in pairs]

    return {
        "overlaps": {"-".join(names): {k: shown(p) for k, p in kinds.items()} for names, kinds in overlaps.items()},
        "within": {name: {k: shown(p) for k, p in kinds.items()} for name, kinds in within.items()},
        "conflicts": shown(torn),
    }


def shortened(text: str, longest: int = LONGEST) -> str:
    """One line; cut with an ellipsis."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1].rstrip() + "…"


def _pairs(first: str, second: str, found: Twins) -> dict[str, Pairs]:
    return {
        kind: [((first, int(twin[row])), (second, int(row))) for row in np.flatnonzero(twin >= 0)[:MOST]]
        for kind, twin in vars(found).items()
    }


def _texts(inputs: Iterable[Input], wanted: Iterable[Pairs]) -> Mapping[Spot, str]:
    """Each file is read no further than the last row that is wanted of it."""
    rows: dict[str, set[int]] = defaultdict(set)
    for name, row in (spot for pairs in wanted for pair in pairs for spot in pair):
        rows[name].add(row)
    return {
        (each.name, row): shortened(full_text(document))
        for each in inputs
        if rows[each.name]
        for row, document in enumerate(islice(each.documents(), max(rows[each.name]) + 1))
        if row in rows[each.name]
    }

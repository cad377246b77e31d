"""Labelled files to rows that can be trained on: labels by name, and a validation part where none is given."""

import hashlib
import json
from collections.abc import Sequence

from headstart.errors import DataError
from headstart.text.records import Row


def label_names(rows: Sequence[Row]) -> tuple[str, ...]:
    """The classes in a fixed order: by number where all are numbers, else by name."""
    names = {row.label for row in rows}
    if problem := no_labels(len(names), len(rows)):
        raise DataError(f"{rows[0].source}: {problem}")
    if all(name.lstrip("-").isdigit() for name in names):
        return tuple(sorted(names, key=int))
    return tuple(sorted(names))


def no_labels(names: int, rows: int) -> str:
    """A sentence where nearly every row has a label of its own, so that there is nothing to learn; "" otherwise."""
    if names <= max(100, 0.8 * rows):
        return ""
    return (
        f"{names:,} different labels in {rows:,} rows: is that the column of the labels (--label-column)? "
        "Translations are checked with --pairs and learnt by headstart translator"
    )


def split_off(rows: Sequence[Row], share: float, seed: int = 0) -> tuple[list[Row], list[Row]]:
    """Hold out `share` of each class, at least one text of it, chosen by a hash of the text: (train, valid).

    Copies of a text stay on the same side. A class with a single text keeps it for training.
    """
    kept: list[Row] = []
    held: list[Row] = []
    for label in label_names(rows):
        ordered = sorted((row for row in rows if row.label == label), key=lambda row: _draw(row, seed))
        cut = min(max(1, round(share * len(ordered))), len(ordered) - 1)
        while 0 < cut < len(ordered) and _draw(ordered[cut - 1], seed) == _draw(ordered[cut], seed):
            cut += 1
        cut = cut if cut < len(ordered) else 0
        held += ordered[:cut]
        kept += ordered[cut:]
    places = {id(row): place for place, row in enumerate(rows)}
    return sorted(kept, key=lambda row: places[id(row)]), sorted(held, key=lambda row: places[id(row)])


def hash_rows(rows: Sequence[Row]) -> str:
    """SHA-256 over all that a model may read of the rows, in order."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(json.dumps([row.label, row.text, row.text_b, row.pieces]).encode())
    return whole.hexdigest()


def _draw(row: Row, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}\n{row.text}\n{row.text_b}".encode("utf-8", "replace"), digest_size=8).digest()

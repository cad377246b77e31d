"""The columns a reader wants, found among those there are."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.config import did_you_mean
from headstart.errors import DataError
from headstart.text.records import Reading


@dataclass(frozen=True)
class Column:
    """`option` is what the user types to name another column; a column that isn't needed reads as ""."""

    name: str
    option: str = ""
    needed: bool = True
    label: bool = False

    def text(self, value: object) -> str | None:
        """The value as text, None if it is none. A label may be a number: 1 is "1", true "true", null ""."""
        if isinstance(value, str):
            return value
        if value is None and (self.label or not self.needed):
            return ""
        return _plain(value) if self.label else None


def text_column(reading: Reading) -> Column:
    return Column(reading.text_column, "--text-column")


def pair_columns(reading: Reading) -> tuple[Column, Column]:
    return Column(reading.source_column, "--source-column"), Column(reading.target_column, "--target-column")


def label_column(reading: Reading, *, needed: bool) -> Column:
    return Column(reading.label_column, "--label-column", needed, label=True)


def positions(where: str, names: Sequence[str], columns: Sequence[Column]) -> list[int]:
    """Where each column stands among `names`; -1 for one that is neither there nor needed."""
    found = []
    for column in columns:
        if column.needed and column.name not in names:
            raise missing(where, names, column)
        if names.count(column.name) > 1:
            raise DataError(f"{where}: two columns are called '{column.name}'; rename one of them")
        found.append(names.index(column.name) if column.name in names else -1)
    return found


def missing(where: str, names: Sequence[str], column: Column) -> DataError:
    close = did_you_mean(column.name, names)
    hint = close if "Did you mean" in close else ""
    there = ", ".join(repr(name) for name in names[:20]) or "none"
    advice = f". Type {column.option} NAME" if column.option else ""
    return DataError(f"{where}: no column '{column.name}'.{hint} The columns are {there}{advice}")


def _plain(value: object) -> str | None:
    if isinstance(value, float) and math.isnan(value):
        return ""
    return json.dumps(value) if isinstance(value, bool | int | float) else None

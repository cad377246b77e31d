"""Two files read side by side, line by line."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.opening import read_lines
from headstart.text.reading.sources import TABLES, USUAL, Source, kind_at, source_at
from headstart.text.records import Reading

Lines = tuple[int, Source, str, Source, str]
_DRIVE = re.compile(r"(?:^|:)[A-Za-z]$")


def split_spec(spec: str | Path) -> tuple[str, ...]:
    """`TEXTS:LABELS` in two, anything else as it is.

    A path that exists is never split, then the colon with a file on either side counts; the colon of a
    Windows drive, as in `C:\\x.csv`, doesn't.
    """
    spec = str(spec)
    if kind_at(spec):
        return (spec,)
    colons = [match.start() for match in re.finditer("(?<=.):(?=.)", spec)]
    halves = [(spec[:colon], spec[colon + 1 :]) for colon in colons]
    found = [pair for pair in halves if all(half == "-" or kind_at(half) == "file" for half in pair)]
    likely = [pair for pair, colon in zip(halves, colons) if not _is_drive(spec, colon)]
    return next(iter(found or likely), (spec,))


def read_parallel(texts: str, others: str, reading: Reading = USUAL, advance: Advance = ignore) -> Iterator[Lines]:
    """Each line's number and, from either file, the source and the line; empty lines count too."""
    left, right = _lined(texts), _lined(others)
    return _side_by_side(left, right, reading, advance)


def _side_by_side(left: Source, right: Source, reading: Reading, advance: Advance) -> Iterator[Lines]:
    lines, other_lines = read_lines(left, reading, advance), read_lines(right, reading, advance)
    for number, (line, other) in enumerate(zip_longest(lines, other_lines), 1):
        if line is None or other is None:
            more = 1 + sum(1 for _ in (other_lines if line is None else lines))
            counts = (number - 1, number - 1 + more) if line is None else (number - 1 + more, number - 1)
            raise DataError(
                f"{left.name} has {counts[0]:,} lines but {right.name} has {counts[1]:,}: they must match line by"
                " line, empty lines included"
            )
        yield number, left, line, right, other


def _lined(path: str) -> Source:
    source = source_at(path)
    if source.form in TABLES:
        raise DataError(
            f"{source.name}: a table can't stand on one side of ':', where plain lines are needed;"
            " give the table alone, with both columns in it"
        )
    return source


def _is_drive(spec: str, colon: int) -> bool:
    return bool(_DRIVE.search(spec[:colon])) and spec[colon + 1 : colon + 2] in ("\\", "/")

"""Rows of `.jsonl` files: one JSON object a line."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.columns import Column, missing
from headstart.text.reading.opening import read_lines
from headstart.text.reading.sources import USUAL, Source
from headstart.text.records import Reading

_NAMES = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}


def read_jsonl(
    source: Source, columns: Sequence[Column], reading: Reading = USUAL, advance: Advance = ignore
) -> Iterator[tuple[int, list[str]]]:
    """The line of each object and its values, in the order of `columns`."""
    for number, line in enumerate(read_lines(source, reading, advance), 1):
        if line and not line.isspace():
            where = f"{source.name}:{number}"
            entry = _entry(where, line)
            yield number, [_value(where, entry, column) for column in columns]


def _entry(where: str, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as problem:
        advice = "; one object a line is needed" if line.strip() == "{" or line.lstrip()[:1] == "[" else ""
        raise DataError(f"{where}: invalid JSON: {problem.msg} at character {problem.colno}{advice}") from None
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{where}: invalid JSON: {problem}") from None
    if not isinstance(entry, dict):
        raise DataError(f'{where}: {_kind(entry)}, but an object is needed, such as {{"text": "..."}}')
    return entry


def _value(where: str, entry: dict[str, Any], column: Column) -> str:
    value = entry.get(column.name)
    if value is None and column.needed and column.name not in entry:
        raise missing(where, list(entry), column)
    text = column.text(value)
    if text is None:
        raise DataError(f"{where}: '{column.name}' is {_kind(value)}, but a text is needed")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"{where}: '{column.name}' holds half a surrogate pair, which is no character") from None
    return text


def _kind(value: object) -> str:
    return "null" if value is None else _NAMES.get(type(value), "a text")

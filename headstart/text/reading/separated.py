"""Rows of `.csv` and `.tsv` files.

In a `.csv` a field may stand in quotes and run over lines; the header says whether commas, semicolons or tabs
separate. In a `.tsv` a quote is a character like any other, as in `1<TAB>"Great" film`, unless the header is
quoted or the rows are, to the character, what a CSV writer would have written for them.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.columns import Column, positions
from headstart.text.reading.opening import LONGEST, read_lines
from headstart.text.reading.sources import USUAL, Source
from headstart.text.records import Reading

Cells = tuple[int, list[str]]
_SAMPLE = 1000
_PROBLEMS = {
    "unexpected end of data": "a quote is opened here and never closed",
    "expected after": 'text after a closing quote; a quote inside a quoted field is written ""',
    "new-line character": "a lone carriage return; put the field in quotes, or change line ends with: tr '\\r' '\\n'",
    "field limit": f"a field of more than {LONGEST:,} characters; is a quote never closed?",
}


def read_separated(
    source: Source, columns: Sequence[Column], reading: Reading = USUAL, advance: Advance = ignore
) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row starts and its values, in the order of `columns`."""
    rows = read_cells(source, reading, advance)
    _, header = next(rows, (1, []))
    if not header:
        raise DataError(f"{source.name}: empty; its first line must name the columns")
    names = [name.strip() for name in header]
    places = positions(source.name, names, columns)
    for line, cells in rows:
        if len(cells) != len(names):
            raise _ragged(source, line, cells, names)
        yield line, [cells[place] if place >= 0 else "" for place in places]


def read_cells(source: Source, reading: Reading = USUAL, advance: Advance = ignore) -> Iterator[Cells]:
    """Every row, the header too; empty lines are left out."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    lines = read_lines(source, reading, advance, ends=True)
    if source.form == ".tsv":
        return _tabbed(source, lines)
    header = next(lines, "")
    return _quoted(source, chain([header] if header else [], lines), _separator(header))


def _separator(header: str) -> str:
    return next((mark for mark in ",;\t" if mark in header), ",")


def _tabbed(source: Source, lines: Iterator[str]) -> Iterator[Cells]:
    """Both ways of reading agree up to the first quote; there the next lines decide between them."""
    for number, line in enumerate(lines, 1):
        if '"' in line:
            sample = [line, *islice(lines, _SAMPLE - 1)]
            rest = chain(sample, lines)
            if (number == 1 and line.startswith('"')) or _written_with_quotes(sample):
                yield from _quoted(source, rest, "\t", number)
            else:
                yield from _unquoted(rest, number)
            return
        yield from _unquoted([line], number)


def _unquoted(lines: Iterator[str] | Sequence[str], first: int) -> Iterator[Cells]:
    for number, line in enumerate(lines, first):
        content = line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")
        if content:
            yield number, content.split("\t")


def _quoted(source: Source, lines: Iterator[str], separator: str, first: int = 1) -> Iterator[Cells]:
    reader = csv.reader(lines, delimiter=separator, strict=True)
    start = first
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = first + reader.line_num
    except csv.Error as problem:
        known = (advice for sign, advice in _PROBLEMS.items() if sign in str(problem))
        raise DataError(f"{source.name}:{start}: {next(known, str(problem))}") from None


def _written_with_quotes(sample: Sequence[str]) -> bool:
    """Whether a CSV writer, given what it would have to be given, writes these very lines."""
    text = "".join(sample).replace("\r\n", "\n").removesuffix("\n").replace("\n", "\r\n") + "\r\n"
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))
    except csv.Error:
        return False
    if len(sample) == _SAMPLE:
        rows.pop()  # it may go on past the sample
    for style in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        written = io.StringIO(newline="")
        csv.writer(written, delimiter="\t", quoting=style).writerows(rows)
        if rows and text.startswith(written.getvalue()):
            return True
    return False


def _ragged(source: Source, line: int, cells: Sequence[str], names: Sequence[str]) -> DataError:
    there = f"{len(cells)} field{'s' * (len(cells) != 1)}"
    header = ", ".join(repr(name) for name in names[:20])
    advice = "a text with a tab in it?" if source.form == ".tsv" else "a text with a comma in it must stand in quotes"
    return DataError(f"{source.name}:{line}: {there}, but the header has {len(names)}: {header}; {advice}")

"""Texts with their translations."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.columns import pair_columns
from headstart.text.reading.parallel import Lines, read_parallel, split_spec
from headstart.text.reading.rows import text_and_pieces
from headstart.text.reading.separated import read_cells
from headstart.text.reading.sources import TABLES, USUAL, Source, known_form, source_at
from headstart.text.reading.tables import read_table
from headstart.text.records import Pair, Reading


def read_pairs(spec: str | Path, reading: Reading = USUAL, *, advance: Advance = ignore) -> Iterator[Pair]:
    """Pairs of `SOURCE:TARGET`, of a table with these columns, or of a `.tsv` that has no header."""
    halves = split_spec(spec)
    if len(halves) == 2:
        return _some(_parallel_pairs(read_parallel(halves[0], halves[1], reading, advance)), str(spec))
    source = known_form(source_at(spec))
    if source.form not in TABLES:
        raise DataError(
            f"{source.name}: pairs are SOURCE:TARGET, two files that match line by line, or one .tsv, .jsonl, .csv"
            " or .parquet with the columns source and target, or those named by --source-column and --target-column"
        )
    return _some(_table_pairs(source, reading, advance), source.name)


def _parallel_pairs(lines: Iterator[Lines]) -> Iterator[Pair]:
    for number, left, text, right, other in lines:
        yield Pair(text_and_pieces(left, text)[0], text_and_pieces(right, other)[0], left.name, number)


def _table_pairs(source: Source, reading: Reading, advance: Advance) -> Iterator[Pair]:
    if source.form == ".tsv" and not _has_header(source, reading):
        yield from _headless_pairs(source, reading, advance)
        return
    for line, (text, other) in read_table(source, pair_columns(reading), reading, advance):
        yield Pair(text, other, source.name, line)


def _has_header(source: Source, reading: Reading) -> bool:
    """Whoever names columns means a header, be it the wrong one; and one usual name is enough to look for the other."""
    _, cells = next(read_cells(source, reading), (1, []))
    wanted = {column.name for column in pair_columns(reading)}
    return wanted != {column.name for column in pair_columns(USUAL)} or bool(wanted & {cell.strip() for cell in cells})


def unheaded(spec: str | Path, reading: Reading = USUAL) -> str:
    """A sentence on a `.tsv` whose first line is read as a pair, for it may have been meant as a header."""
    source = source_at(spec) if len(split_spec(spec)) == 1 else None
    if source is None or source.form != ".tsv" or _has_header(source, reading):
        return ""
    _, cells = next(read_cells(source, reading), (1, []))
    return (
        f"{source.name} is read without a header, its first pair being '{cells[0]}' and '{' '.join(cells[1:2])}'; "
        "name the columns with --source-column and --target-column if that is a header"
    )


def _headless_pairs(source: Source, reading: Reading, advance: Advance) -> Iterator[Pair]:
    """The first two columns; whatever follows, such as a licence, is left out."""
    for line, cells in read_cells(source, reading, advance):
        if len(cells) < 2:
            raise DataError(f"{source.name}:{line}: one field, but a source and a target with a tab between are needed")
        yield Pair(cells[0], cells[1], source.name, line)


def _some(pairs: Iterator[Pair], name: str) -> Iterator[Pair]:
    first = next(pairs, None)
    if first is None:
        raise DataError(f"{name}: no pairs in it")
    yield from chain([first], pairs)

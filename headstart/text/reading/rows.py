"""Texts with their labels."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.columns import Column, label_column, text_column
from headstart.text.reading.corpus import Corpus
from headstart.text.reading.documents import joined, read_documents
from headstart.text.reading.opening import read_lines
from headstart.text.reading.parallel import Lines, read_parallel, split_spec
from headstart.text.reading.sources import TABLES, USUAL, Source, kind_at, known_form, source_at
from headstart.text.reading.tables import read_table
from headstart.text.records import Document, Reading, Row


def read_rows(
    spec: str | Path, reading: Reading = USUAL, *, labelled: bool = True, advance: Advance = ignore
) -> Iterator[Row]:
    """Rows of a table or of `TEXTS:LABELS`, or, where no labels are needed, of any corpus file or `-`.

    Rows are never left out, an empty text is one too. So a `.txt` is a text a line here, blank lines included,
    unless `documents` says "blocks".
    """
    halves = split_spec(spec)
    if len(halves) == 2:
        lines = read_parallel(halves[0], halves[1], reading, advance)
        return _some(_parallel_rows(lines, labelled), str(spec))
    if not labelled and kind_at(spec) == "folder":
        return _document_rows(Corpus([spec], reading).documents(advance))
    source = known_form(source_at(spec))
    if source.form in TABLES:
        return _some(_table_rows(source, reading, labelled, advance), source.name)
    if labelled:
        raise DataError(
            f"{source.name}: a {source.form} file has no labels; give {spec}:LABELS, two files that match"
            " line by line, or a .csv, .tsv, .jsonl or .parquet with a label column"
        )
    if source.form == ".txt" and reading.documents == "blocks":
        return _some(_document_rows(read_documents(source, "blocks", reading, advance)), source.name)
    return _some(_line_rows(source, reading, advance), source.name)


def read_labelled(spec: str | Path, reading: Reading = USUAL, *, advance: Advance = ignore) -> list[Row]:
    """All rows, each with a label, of at least two classes."""
    rows = list(read_rows(spec, reading, advance=advance))
    classes = Counter(row.label for row in rows)
    if len(classes) < 2:
        raise DataError(
            f"{spec}: all {len(rows):,} rows have the label {next(iter(classes))!r}, but a classifier needs at least"
            " two classes; is it the right column? --label-column NAME names another"
        )
    return rows


def text_and_pieces(source: Source, line: str) -> tuple[str, str]:
    return (joined(line), line) if source.form == ".spm" else (line, "")


def _table_rows(source: Source, reading: Reading, labelled: bool, advance: Advance) -> Iterator[Row]:
    columns = [
        text_column(reading),
        label_column(reading, needed=labelled),
        Column("text_b", needed=False),
    ]
    for line, (text, label, text_b) in read_table(source, columns, reading, advance):
        yield Row(text, source.name, line, "", _label(label, source, line, labelled), text_b)


def _parallel_rows(lines: Iterator[Lines], labelled: bool) -> Iterator[Row]:
    for number, source, line, label_source, label in lines:
        text, pieces = text_and_pieces(source, line)
        yield Row(text, source.name, number, pieces, _label(label, label_source, number, labelled))


def _line_rows(source: Source, reading: Reading, advance: Advance) -> Iterator[Row]:
    for number, line in enumerate(read_lines(source, reading, advance), 1):
        text, pieces = text_and_pieces(source, line)
        yield Row(text, source.name, number, pieces)


def _document_rows(documents: Iterator[Document]) -> Iterator[Row]:
    for document in documents:
        yield Row(document.text, document.source, document.line, document.pieces)


def _label(label: str, source: Source, line: int, needed: bool) -> str:
    label = label.strip()
    if needed and not label:
        raise DataError(f"{source.name}:{line}: the label is missing; fill it in or take the row out")
    return label


def _some(rows: Iterator[Row], name: str) -> Iterator[Row]:
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise DataError(f"{name}: no rows in it")

"""Rows of `.parquet` files, read with pyarrow a batch at a time."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore, unpack
from headstart.text.reading.columns import Column, positions
from headstart.text.reading.sources import USUAL, Source
from headstart.text.records import Reading

_BATCH = 1024


def read_parquet(
    source: Source, columns: Sequence[Column], reading: Reading = USUAL, advance: Advance = ignore
) -> Iterator[tuple[int, list[str]]]:
    """The number of each row, from 1, and its values in the order of `columns`."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(f"{source.name}: reading .parquet needs pyarrow: pip install 'headstart[parquet]'") from None
    try:
        with _seekable(source, reading, advance) as (file, told):
            table = pyarrow.parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)  # flat memory
            yield from _rows(source, table, columns, advance if not told else ignore)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{source.name}: not a readable parquet file ({problem}); write it again") from None


def _rows(source: Source, table: Any, columns: Sequence[Column], advance: Advance) -> Iterator[tuple[int, list[str]]]:
    names = list(table.schema_arrow.names)
    places = positions(source.name, names, columns)
    wanted = [names[place] for place in places if place >= 0]
    rows, told = 0, 0
    for batch in table.iter_batches(batch_size=_BATCH, columns=wanted):
        values = [batch.column(c.name).to_pylist() if c.name in wanted else [None] * len(batch) for c in columns]
        for row, cells in enumerate(zip(*values), rows + 1):
            yield row, [_text(source, row, column, cell) for column, cell in zip(columns, cells)]
        rows += len(batch)
        share = source.size * rows // table.metadata.num_rows
        advance(share - told)
        told = share
    advance(source.size - told)


def _text(source: Source, row: int, column: Column, value: object) -> str:
    text = column.text(value)
    if text is None:
        kind = "null" if value is None else type(value).__name__
        raise DataError(f"{source.name}:{row}: '{column.name}' is {kind} in this row, but a text is needed")
    return text


@contextmanager
def _seekable(source: Source, reading: Reading, advance: Advance) -> Iterator[tuple[BinaryIO, bool]]:
    """Parquet is read from its end, so a packed file is unpacked to a nameless one first."""
    if not source.packing:
        with source.path.open("rb") as file:
            yield file, False
        return
    with tempfile.TemporaryFile(prefix="headstart-") as file:
        for chunk in unpack(source, reading, advance):
            file.write(chunk)
        yield file, True

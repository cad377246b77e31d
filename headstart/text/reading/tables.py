"""Columns out of any table."""

from collections.abc import Iterator, Sequence

from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.columns import Column
from headstart.text.reading.jsonl import read_jsonl
from headstart.text.reading.parquet import read_parquet
from headstart.text.reading.separated import read_separated
from headstart.text.reading.sources import USUAL, Source
from headstart.text.records import Reading

_READERS = {".csv": read_separated, ".tsv": read_separated, ".jsonl": read_jsonl, ".parquet": read_parquet}


def read_table(
    source: Source, columns: Sequence[Column], reading: Reading = USUAL, advance: Advance = ignore
) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row starts and its values, in the order of `columns`."""
    return _READERS[source.form](source, columns, reading, advance)

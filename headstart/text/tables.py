"""Columns out of any table."""

from collections.abc import Iterator, Sequence

from headstart.text.archives import Advance, ignore
from headstart.text.columns import Column
from headstart.text.jsonl import read_jsonl
from headstart.text.parquet import read_parquet
from headstart.text.records import Reading
from headstart.text.separated import read_separated
from headstart.text.sources import USUAL, Source

_READERS = {".csv": read_separated, ".tsv": read_separated, ".jsonl": read_jsonl, ".parquet": read_parquet}


def read_table(
    source: Source, columns: Sequence[Column], reading: Reading = USUAL, advance: Advance = ignore
) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row starts and its values, in the order of `columns`."""
    return _READERS[source.form](source, columns, reading, advance)

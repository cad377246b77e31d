"""Copies of the users' files without some rows: the same names, the same form, the kept lines as they were."""

import gzip
import io
import lzma
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import reduce
from pathlib import Path
from typing import IO, Any

import numpy as np

from headstart.errors import DataError
from headstart.text.guard.inputs import Input
from headstart.text.guard.parts import Part
from headstart.text.reading.archives import unpack
from headstart.text.reading.byte_order import LONGEST_MARK, split_mark
from headstart.text.reading.opening import read_lines
from headstart.text.reading.sources import Source
from headstart.text.records import Reading


def copy_without(each: Input, part: Part, reasons: Mapping[str, np.ndarray], folder: Path) -> list[Path]:
    """Write each file of the part into `folder`, less the rows for which there is a reason.

    What stands before the first row, a header, stays.
    """
    dropped = reduce(np.logical_or, reasons.values(), np.zeros(part.rows, dtype=bool))
    sources = list(dict.fromkeys((*each.sources, *each.labels)))
    targets = _targets(folder, sources)
    for source, target in zip(sources, targets):
        owner = each.sources[0] if source in each.labels else source
        starts, gone = _line_table(part, owner.name, dropped)
        with _packed(target, source.packing) as file:
            copy = _copy_parquet if source.form == ".parquet" else _copy_lines
            copy(source, file, starts, gone, each.reading)
    return targets


def _line_table(part: Part, source: str, dropped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lines on which rows of a file start, in order, and whether each row goes.

    A file that was given twice has each line twice: it stays if one of the two does.
    """
    if source not in part.source_names:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
    rows = part.sources == part.source_names.index(source)
    starts, which = np.unique(part.lines[rows], return_inverse=True)
    kept = np.bincount(which, weights=~dropped[rows], minlength=len(starts))
    return starts, kept == 0


def _copy_lines(source: Source, file: IO[bytes], starts: np.ndarray, gone: np.ndarray, reading: Reading) -> None:
    """A line belongs to the last row that started: a quoted field or a block may run over several."""
    head = next(unpack(source, reading), b"")[:LONGEST_MARK]
    mark, encoding = split_mark(head, reading.encoding)
    file.write(mark)
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
    upcoming = iter(zip(starts.tolist(), gone.tolist()))
    start, goes = next(upcoming, (0, False))
    dropping = False
    for number, line in enumerate(read_lines(source, reading, ends=True), 1):
        if number == start:
            dropping = goes
            start, goes = next(upcoming, (0, False))
        if not dropping:
            text.write(line)
    text.flush()
    text.detach()


def _copy_parquet(source: Source, file: IO[bytes], starts: np.ndarray, gone: np.ndarray, reading: Reading) -> None:
    import pyarrow.parquet

    leaving = starts[gone]
    with tempfile.TemporaryFile(prefix="headstart-") as plain:
        for chunk in unpack(source, reading):
            plain.write(chunk)
        table = pyarrow.parquet.ParquetFile(plain)
        done = 0
        with pyarrow.parquet.ParquetWriter(file, table.schema_arrow) as writer:
            for batch in table.iter_batches():
                numbers = np.arange(done + 1, done + 1 + len(batch))
                writer.write_batch(batch.filter(pyarrow.array(~np.isin(numbers, leaving))))
                done += len(batch)


def _targets(folder: Path, sources: Sequence[Source]) -> list[Path]:
    """Files of one folder keep their names, those of several their paths below the folder that holds them all."""
    paths = {s: s.path.parent.resolve() / s.path.name for s in sources if s.name != "stdin"}  # a link keeps its name
    above = os.path.commonpath([path.parent for path in paths.values()]) if paths else ""
    found = [folder / (paths[source].relative_to(above) if source in paths else "stdin.txt") for source in sources]
    twice = next((path.name for path in found if found.count(path) > 1), "")
    if twice:
        raise DataError(f"two inputs would both be written as {twice}: give each file once, and rename one of them")
    return found


@contextmanager
def _packed(path: Path, packing: str) -> Iterator[IO[bytes]]:
    """A file to write to, safe on the disk once it is closed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as disk:
        with _packer(disk, packing) as file:
            yield file
        disk.flush()
        os.fsync(disk.fileno())


def _packer(disk: IO[bytes], packing: str) -> Any:
    if packing == ".gz":
        return gzip.GzipFile("", "wb", fileobj=disk, mtime=0)
    if packing == ".xz":
        return lzma.LZMAFile(disk, "wb", preset=1)
    if packing == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().stream_writer(disk, closefd=False)
    return nullcontext(disk)

"""Lines from a pipe as they arrive: a slow writer is answered at once, a fast one in large blocks."""

from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

from headstart.errors import DataError
from headstart.text.reading.opening import LONGEST, Checked
from headstart.text.reading.sources import Source
from headstart.text.records import Reading

CHUNK = 1 << 20  # bytes; a pipe rarely holds more than 64 kB


def read_arriving(stream: BufferedIOBase, encoding: str = "utf-8", name: str = "stdin") -> Iterator[list[str]]:
    r"""Blocks of whole lines, each as soon as something has come; a line ends at \n or \r\n. No block is empty.

    Whole lines before one that is refused are given out first.
    """
    checked = Checked(Source(Path(name), name, ".txt"), Reading(encoding=encoding))
    pending, number = "", 1  # the line that has begun, and which one it is
    while True:
        chunk = stream.read1(CHUNK)
        *lines, pending = (pending + checked.decode(chunk)).split("\n")
        number += len(lines)
        if not chunk and pending and not checked.problem:
            lines.append(pending)
        if lines:
            yield [line.removesuffix("\r") for line in lines]
        if checked.problem:
            raise checked.problem
        if len(pending) > LONGEST:
            raise DataError(f"{name}:{number}: a line of more than {LONGEST:,} characters")
        if not chunk:
            return

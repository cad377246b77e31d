"""Lines from a pipe as they arrive: a slow writer is answered at once, a fast one in large blocks."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedIOBase

from headstart.errors import DataError
from headstart.text.reading.opening import LONGEST, codec

CHUNK = 1 << 20  # bytes; a pipe rarely holds more than 64 kB


def read_arriving(stream: BufferedIOBase, encoding: str = "utf-8", name: str = "stdin") -> Iterator[list[str]]:
    r"""Blocks of whole lines, each as soon as something has come; a line ends at \n or \r\n. No block is empty."""
    decoder = codec(encoding).incrementaldecoder("strict")
    pending, number = "", 1  # the line that has begun, and which one it is
    while True:
        chunk = stream.read1(CHUNK)
        if number == 1 and not pending:
            chunk = chunk.removeprefix(BOM_UTF8)
        try:
            text = pending + decoder.decode(chunk, final=not chunk)
        except UnicodeError as problem:
            raise DataError(
                f"{name}: near line {number + chunk.count(10):,}: not {encoding} ({problem}); give another --encoding"
            ) from None
        *lines, pending = text.split("\n")
        if len(pending) > LONGEST:
            raise DataError(f"{name}:{number + len(lines)}: a line of more than {LONGEST:,} characters")
        number += len(lines)
        if not chunk and pending:
            lines.append(pending)
        if lines:
            yield [line.removesuffix("\r") for line in lines]
        if not chunk:
            return

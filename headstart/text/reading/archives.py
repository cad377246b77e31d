"""A file's bytes, unpacked in a stream and never beyond the limits."""

import gzip
import lzma
import math
import shlex
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from headstart.errors import DataError
from headstart.text.reading.signatures import kind_of
from headstart.text.reading.sources import USUAL, Source
from headstart.text.records import Reading

Advance = Callable[[int], None]
CHUNK = 1 << 20
BOMB_FLOOR = 64 << 20
_ZSTD_SIP = 1 << 9  # one byte of zstd may become 32 KB, and a sip is unpacked all at once
_TESTS = {".gz": "gzip -t", ".xz": "xz -t", ".zst": "zstd -t"}
_KINDS = {".gz": "a gzip file", ".xz": "an xz file", ".zst": "a zstd file"}


class _DamageError(Exception):
    """An archive that its own library refuses."""


def ignore(count: int) -> None:
    """The `advance` of those who show no progress."""


def unpack(source: Source, reading: Reading = USUAL, advance: Advance = ignore) -> Iterator[bytes]:
    """Chunks of about 1 MB, none of them empty; `advance` is told the bytes that were consumed on disk."""
    size = consumed = produced = 0
    try:
        with source.path.open("rb") as file:
            size = source.size
            for chunk in _chunks(file, source.packing):
                produced += len(chunk)
                if source.packing:
                    _check_limits(source, reading, size, produced)
                advance(file.tell() - consumed)
                consumed = file.tell()
                yield chunk
        advance(max(0, size - consumed))
    except EOFError:
        raise DataError(
            f"{source.name}: this archive is truncated: its end is missing; fetch or make it again"
        ) from None
    except (_DamageError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as problem:
        raise _damaged(source, problem) from None
    except OSError as problem:
        raise DataError(f"{source.name}: {problem.strerror or problem}") from None


def _chunks(file: BinaryIO, packing: str) -> Iterator[bytes]:
    if packing == ".gz":
        with gzip.open(file) as unpacked:
            yield from _pieces(unpacked)
    elif packing == ".xz":
        with lzma.open(file) as unpacked:
            yield from _pieces(unpacked)
    elif packing == ".zst":
        yield from _zstd_chunks(file)
    else:
        yield from _pieces(file)


def _pieces(file: gzip.GzipFile | lzma.LZMAFile | BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _zstd_chunks(file: BinaryIO) -> Iterator[bytes]:
    """Frame after frame. The library's own stream reader takes a truncated file for a whole one."""
    import zstandard

    frame = None
    pending: list[bytes] = []
    size = 0
    while sip := file.read(_ZSTD_SIP):
        while sip:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                pending.append(frame.decompress(sip))
            except zstandard.ZstdError as problem:
                raise _DamageError(problem) from None
            size += len(pending[-1])
            sip = frame.unused_data
            frame = None if frame.eof else frame
        if size >= CHUNK:
            yield b"".join(pending)
            pending, size = [], 0
    if size:
        yield b"".join(pending)
    if frame is not None:
        raise EOFError


def _check_limits(source: Source, reading: Reading, size: int, produced: int) -> None:
    gigabytes = reading.largest_gigabytes
    if produced > max(reading.largest_ratio * size, BOMB_FLOOR):
        # How far it goes on is not known without unpacking it; a ratio that reaches the other limit is enough.
        enough = math.ceil(min(max(gigabytes * 1e9, produced), 1e18) / size)
        raise DataError(
            f"{source.name}: unpacks to more than {reading.largest_ratio} times its {size:,} bytes, as a decompression"
            f" bomb does; if you trust it, --set reading.largest_ratio={enough} lets it grow to {gigabytes:g} GB"
        )
    if produced > gigabytes * 1e9:
        raise DataError(
            f"{source.name}: unpacks to more than {gigabytes:g} GB; if you trust it,"
            f" --set reading.largest_gigabytes={gigabytes * 10:g}"
        )


def _damaged(source: Source, problem: Exception) -> DataError:
    with source.path.open("rb") as file:
        kind, _ = kind_of(file.read(512))
    if kind != _KINDS[source.packing]:
        found = kind or "something else, perhaps text that was never packed"
        return DataError(f"{source.name}: named {source.packing}, but it is {found}: rename it to what it is")
    return DataError(
        f"{source.name}: this archive is damaged ({problem}); fetch or make it again,"
        f" then {_TESTS[source.packing]} {shlex.quote(source.name)} shows whether it is whole"
    )

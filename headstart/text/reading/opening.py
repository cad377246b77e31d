"""Bytes on disk to checked lines of text."""

import codecs
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore, unpack
from headstart.text.reading.encoding import conversion, filtered, guess_encoding
from headstart.text.reading.signatures import kind_of
from headstart.text.reading.sources import USUAL, Source
from headstart.text.records import Reading

LONGEST = 1 << 28  # characters in one line, block or field: what must fit in memory at once

_EAT_THEIR_MARK = ("utf-8-sig", "utf-16", "utf-32")


def read_lines(
    source: Source, reading: Reading = USUAL, advance: Advance = ignore, *, ends: bool = False
) -> Iterator[str]:
    r"""Each line without its end, or with it for `ends`.

    A line ends at \n or \r\n only, as it does for `wc -l`, editors and parallel files: a lone \r, a form feed
    or U+2028 is a character like any other.
    """
    number = waiting = 0
    pending: list[str] = []
    for text in _texts(source, reading, advance):
        lines = text.split("\n")
        pending.append(lines[0])
        waiting += len(lines[0])
        if waiting > LONGEST:
            raise _endless(source, number + 1)
        if len(lines) > 1:
            lines[0] = "".join(pending)
            pending = [lines.pop()]
            waiting = len(pending[0])
            number += len(lines)
            yield from [line + "\n" for line in lines] if ends else [line.removesuffix("\r") for line in lines]
    if waiting:
        yield "".join(pending)


def _texts(source: Source, reading: Reading, advance: Advance) -> Iterator[str]:
    """Decoded chunks, refused where they hold a NUL or a byte that the encoding doesn't have."""
    checked = Checked(source, reading)
    for chunk in chain(unpack(source, reading, advance), [b""]):
        text = checked.decode(chunk)
        if checked.problem:
            raise checked.problem
        yield text


class Checked:
    """Decodes a file chunk by chunk, an empty one at its end; what is refused of it is kept as `problem`."""

    def __init__(self, source: Source, reading: Reading):
        self.source, self.reading, self.line, self.begun = source, reading, 1, False
        self.decoder = codec(reading.encoding).incrementaldecoder("strict")
        self.problem: DataError | None = None

    def decode(self, chunk: bytes) -> str:
        """The text of a chunk, up to the `problem` if there is one."""
        if not self.begun and self._is_no_text(chunk):
            return ""
        state = self.decoder.getstate()
        try:
            text = self.decoder.decode(chunk, final=not chunk)
        except UnicodeError as problem:
            self.decoder.setstate(state)
            text = _before(self.decoder, chunk, problem, len(state[0]))
            line, sample = self.line + text.count("\n"), chunk or state[0]
            self.problem = _undecodable(self.source, self.reading, line, problem, sample)
        if not self.begun and codec(self.reading.encoding).name not in _EAT_THEIR_MARK:
            text = text.removeprefix("\ufeff")
        self.begun = self.begun or bool(text)
        if "\0" in text:
            text = text[: text.index("\0")]
            self.problem = _binary(self.source, self.line + text.count("\n"), chunk)
        self.line += text.count("\n")
        return text

    def _is_no_text(self, head: bytes) -> bool:
        kind, advice = kind_of(head)
        if kind:
            self.problem = DataError(f"{self.source.name}: not a text file: it looks like {kind}; {advice}")
        return bool(kind)


def codec(encoding: str) -> codecs.CodecInfo:
    """What Python knows of an encoding of text that can be read as a stream."""
    with suppress(LookupError):
        found = codecs.lookup(encoding)
        if found._is_text_encoding and found.incrementaldecoder:
            return found
    raise DataError(
        f"--encoding {encoding}: no such text encoding; for example utf-8, utf-16, windows-1252, iso-8859-1, gb18030"
    )


def _before(decoder: codecs.IncrementalDecoder, chunk: bytes, problem: UnicodeError, held: int) -> str:
    """What can still be decoded of the chunk; `held` bytes were left over from the one before."""
    start = problem.start if isinstance(problem, UnicodeDecodeError) else 0
    with suppress(UnicodeError):
        return decoder.decode(chunk[: max(0, start - held)])
    return ""


def _undecodable(source: Source, reading: Reading, line: int, problem: UnicodeError, sample: bytes) -> DataError:
    what = f"{source.name}:{line}: not {reading.encoding}"
    if isinstance(problem, UnicodeDecodeError):
        what += f" (byte 0x{problem.object[problem.start]:02X}: {problem.reason})"
    if codec(reading.encoding).name != "utf-8":
        return DataError(f"{what}; give another name with --encoding, or none if the file is UTF-8")
    guess = guess_encoding(sample)
    if not guess and b"\0" in sample:
        return _binary(source, line, sample)
    if guess == "utf-8":
        return DataError(f"{what}; most of it is UTF-8, so it is damaged. Drop such bytes: {conversion(source, guess)}")
    seems = f"it looks like {guess}" if guess else "its encoding can't be guessed (`file -i` may tell)"
    name = guess or "ENCODING"
    return DataError(f"{what}; {seems}. Convert it: {conversion(source, name)} or read it with --encoding {name}")


def _binary(source: Source, line: int, sample: bytes) -> DataError:
    guess = guess_encoding(sample)
    if guess.startswith(("utf-16", "utf-32")):
        return DataError(
            f"{source.name}:{line}: NUL bytes; it looks like {guess}."
            f" Convert it: {conversion(source, guess)} or read it with --encoding {guess}"
        )
    clean = filtered(source, "tr -d '\\000'")
    return DataError(
        f"{source.name}:{line}: a NUL byte: this is a binary file or a damaged text. If it is text: {clean}"
    )


def _endless(source: Source, line: int) -> DataError:
    return DataError(
        f"{source.name}:{line}: a line of more than {LONGEST:,} characters does not fit in memory;"
        " break it up, for example with: fold -s -w 100000"
    )

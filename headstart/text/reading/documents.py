"""Lines to documents."""

from collections.abc import Iterable, Iterator

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.columns import text_column
from headstart.text.reading.opening import LONGEST, read_lines
from headstart.text.reading.sources import TABLES, USUAL, Source
from headstart.text.reading.tables import read_table
from headstart.text.records import Document, Reading

_LOOKED_AT = 4_000_000  # characters; a novel has half a million


def read_documents(
    source: Source, division: str, reading: Reading = USUAL, advance: Advance = ignore
) -> Iterator[Document]:
    """Every text that isn't blank; `division` says how a `.txt` is cut: "lines" or "blocks"."""
    if source.form in TABLES:
        return _cells(source, reading, advance)
    lines = enumerate(read_lines(source, reading, advance), 1)
    if source.form == ".spm":
        return (Document(joined(line), source.name, number, line) for number, line in lines if line.strip())
    if division == "blocks":
        return _blocks(source, lines)
    return (Document(line, source.name, number) for number, line in lines if line and not line.isspace())


def guess_division(source: Source, reading: Reading = USUAL) -> str:
    """ "blocks" if a blank line stands between two others in the first part of the file, else "lines"."""
    looked, begun, blank = 0, False, False
    for line in read_lines(source, reading):
        full = bool(line) and not line.isspace()
        if full and blank:
            return "blocks"
        begun = begun or full
        blank = begun and not full
        looked += len(line) + 1
        if looked > _LOOKED_AT:
            break
    return "lines"


def joined(pieces: str) -> str:
    """The text that was cut into pieces: spaces separate them, and `▁` stands for a space of the text."""
    return pieces.replace(" ", "").replace("▁", " ").removeprefix(" ")


def _cells(source: Source, reading: Reading, advance: Advance) -> Iterator[Document]:
    for line, (text,) in read_table(source, [text_column(reading)], reading, advance):
        if text and not text.isspace():
            yield Document(text, source.name, line)


def _blocks(source: Source, lines: Iterable[tuple[int, str]]) -> Iterator[Document]:
    """A paragraph a line and a blank line between novels, or lines of verse and a blank line between poems."""
    block: list[str] = []
    start = length = 0
    for number, line in lines:
        if line and not line.isspace():
            start = start if block else number
            block.append(line)
            length += len(line) + 1
            if length > LONGEST:
                raise _endless(source, start)
        elif block:
            yield Document("\n".join(block), source.name, start)
            block, length = [], 0
    if block:
        yield Document("\n".join(block), source.name, start)


def _endless(source: Source, line: int) -> DataError:
    return DataError(
        f"{source.name}:{line}: no blank line in the {LONGEST:,} characters from here; if each line is a document,"
        " --documents lines"
    )

"""A text that is too long, cut into parts that fit: between sentences, else between words, else anywhere."""

import re
from collections.abc import Callable, Iterator

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…;])\s+|(?<=[。！？；])")
_BETWEEN_WORDS = re.compile(r"\s+")


def part(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The parts in order, each of which fits, or is a single character; spaces at the cuts are left out."""
    return [text] if fits(text) else list(_parts(text, fits, (_BETWEEN_SENTENCES, _BETWEEN_WORDS)))


def _parts(text: str, fits: Callable[[str], bool], cuts: tuple[re.Pattern[str], ...]) -> Iterator[str]:
    """As much together as fits; a piece that does not fit alone is cut more finely."""
    begun = gap = ""
    for piece, after in _pieces(text, cuts[0]) if cuts else ((letter, "") for letter in text):
        longer = f"{begun}{gap}{piece}" if begun else piece
        gap = after
        if fits(longer):
            begun = longer
            continue
        if begun:
            yield begun
        finer = [piece] if fits(piece) or not cuts else [*_parts(piece, fits, cuts[1:]), ""]
        yield from finer[:-1]
        begun = finer[-1]
    if begun:
        yield begun


def _pieces(text: str, cut: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each piece, and what stands between it and the next."""
    start = 0
    for match in cut.finditer(text):
        if match.start() > start:
            yield text[start : match.start()], match[0]
        start = match.end()
    if start < len(text):
        yield text[start:], ""

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
    pieces = [piece for piece in cuts[0].split(text) if piece] if cuts else list(text)
    joint = " " if cuts else ""
    begun = ""
    for piece in pieces:
        longer = f"{begun}{joint}{piece}" if begun else piece
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

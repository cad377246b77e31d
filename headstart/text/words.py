"""Where the words of a text stand."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

JOINERS = "\u200c\u200d"  # Persian and Hindi words have them inside


def words(text: str) -> Iterator[tuple[int, int]]:
    """The span of each run of letters, digits and the marks on them; an apostrophe or a hyphen ends a word.

    A script that is written without spaces comes out as one word from one sign of punctuation to the next.
    """
    for inside, run in groupby(range(len(text)), key=lambda place: _in_word(text[place])):
        places = list(run)
        if inside and any(text[place].isalnum() for place in places):
            yield places[0], places[-1] + 1


def same_word(word: str) -> str:
    """What two spellings of a word have in common: case and the Unicode form do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())


@lru_cache(maxsize=1 << 16)
def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or character in JOINERS or unicodedata.category(character)[0] == "M"

"""Which documents are held out for validation: whole ones, chosen by their own text."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from headstart.text.records import Document

Choice = Callable[[Document], bool]


def rank(document: Document) -> float:
    """A number in [0, 1) that depends on the text alone, so that new or moved files change no choice."""
    digest = hashlib.blake2b(document.text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def choice(documents: Iterable[Document], share: float, say: Callable[[str], None]) -> Choice:
    """Hold out what ranks below `share`, but never all and never nothing.

    Reads until it has met a document for each part: far in a corpus of few documents only.
    """
    if share == 0.0:
        return lambda document: False
    met: list[tuple[int, float]] = []
    sides: set[bool] = set()
    for document in documents:
        met.append((len(document.text), rank(document)))
        sides.add(met[-1][1] < share)
        if len(sides) == 2:
            return lambda document: rank(document) < share
    return _for_few(met, share, say)


def _for_few(met: list[tuple[int, float]], share: float, say: Callable[[str], None]) -> Choice:
    """One of the shorter documents is held out, or if all would be, one of the longer ones is not."""
    if len({number for _, number in met}) < 2:
        one = "the corpus is one document; its end is held out for validation"
        say(one if len(met) == 1 else "all documents are the same text, so none is held out for validation")
        return lambda document: False
    met.sort()
    shorter, longer = met[: len(met) // 2], met[len(met) // 2 :]
    if met[0][1] < share:
        kept = max(number for _, number in longer)
        return lambda document: rank(document) != kept
    held = min(number for _, number in shorter)
    return lambda document: rank(document) == held


def marked(documents: Iterable[Document], share: float, held: Choice) -> Iterator[tuple[Document, bool]]:
    """Each document, and whether it is held out. An only document is parted instead."""
    rest = iter(documents)
    first = next(rest, None)
    if first is None:
        return
    second = next(rest, None)
    if second is None:
        yield from _parted(first, share)
        return
    for document in chain((first, second), rest):
        yield document, held(document)


def _parted(document: Document, share: float) -> Iterator[tuple[Document, bool]]:
    """An only document loses its last words to validation; one that cannot be parted stays whole."""
    text = document.text
    end = math.ceil(len(text) * (1.0 - share)) + 1
    cut = max(text.rfind(space, 1, end) for space in " \n")
    if share == 0.0 or document.pieces or cut < 0 or not text[cut:].strip():
        yield document, False
        return
    yield replace(document, text=text[:cut]), False
    yield replace(document, text=text[cut:].strip()), True

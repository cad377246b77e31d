"""Which documents are held out for validation: whole ones, chosen by their own text."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from headstart.text.records import Document


def rank(text: str) -> float:
    """A number in [0, 1) that depends on the text alone, so that new or moved files change no choice."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def limit(documents: Iterable[Document], share: float, say: Callable[[str], None]) -> float:
    """Documents ranked below it are held out: `share`, moved just enough that neither part stays empty.

    Reads only until it has met a document for each part.
    """
    if share == 0.0:
        return 0.0
    lowest, highest, count = math.inf, -math.inf, 0
    for document in documents:
        count += 1
        this = rank(document.text)
        lowest, highest = min(lowest, this), max(highest, this)
        if lowest < share <= highest:
            return share
    if count == 1:
        say("the corpus is one document; its end is held out for validation")
    elif lowest >= highest:
        say("all documents are the same text, so none can be held out for validation")
    if lowest >= highest:
        return 0.0
    return math.nextafter(lowest, 1.0) if lowest >= share else highest


def marked(documents: Iterable[Document], share: float, limit: float) -> Iterator[tuple[Document, bool]]:
    """Each document, and whether it is held out. The end of an only document is held out instead."""
    rest = iter(documents)
    first = next(rest, None)
    if first is None:
        return
    second = next(rest, None)
    if second is None:
        yield from _parted(first, share)
        return
    yield first, rank(first.text) < limit
    yield second, rank(second.text) < limit
    for document in rest:
        yield document, rank(document.text) < limit


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

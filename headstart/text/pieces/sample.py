"""An even sample of a corpus that may be larger than memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

CHUNK = 4096


@dataclass(frozen=True, slots=True)
class Sample:
    """Chunks of at most CHUNK characters, and how much was read to draw them."""

    chunks: tuple[str, ...]
    texts: int
    characters: int

    @property
    def kept(self) -> int:
        return sum(map(len, self.chunks))


def draw_sample(texts: Iterable[str], characters: int, seed: int = 0) -> Sample:
    """At most `characters` of the texts, every chunk as likely as the next; all of them where they fit.

    Each chunk draws a number; those with the smallest numbers stay, so memory never exceeds the limit.
    """
    kept: list[tuple[float, str]] = []  # a heap, largest number first
    random, held, limit = Random(seed), 0, 1.0
    texts_read = characters_read = 0
    for text in texts:
        texts_read, characters_read = texts_read + 1, characters_read + len(text)
        for chunk in chunks(text):
            number = random.random()
            if number >= limit:
                continue
            heappush(kept, (-number, chunk))
            held += len(chunk)
            while held > characters and len(kept) > 1:
                negative, dropped = heappop(kept)
                held, limit = held - len(dropped), -negative
    return Sample(tuple(chunk for _, chunk in sorted(kept)), texts_read, characters_read)


def chunks(text: str) -> Iterator[str]:
    """Cut at a space, which is dropped; in the middle of a word only where there is no space."""
    start = 0
    while len(text) - start > CHUNK:
        space = text.rfind(" ", start + 1, start + CHUNK + 1)
        end = space if space > 0 else start + CHUNK
        yield text[start:end]
        start = end + (space > 0)
    if start < len(text):
        yield text[start:]

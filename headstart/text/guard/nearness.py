"""Which texts are nearly the same: MinHash sketches of their letters, and the pairs that share a band.

A text is the set of its runs of five characters. A sketch holds, for each of 160 random orders of all runs,
one byte of the run that comes first; two sketches agree in a share of their bytes that estimates the Jaccard
similarity of the two sets (Broder 1997; one byte is enough, Li and König 2010). Eight bytes are a band, and only
texts that share a whole band are compared: at a similarity of 0.8, 97 % of the pairs; at 0.3, one in a thousand.

In each band a text is compared with the first and with the last of those that share it, however many they are, so
the time is linear in the texts, ten thousand copies of one page of boilerplate included.
"""

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

RUN = 5
BANDS = 20
SKETCH = 8 * BANDS
FEWEST_WORDS = 5
FEWEST_CHARACTERS = 40
THRESHOLD = 0.8
_SLICE = 1 << 17  # characters worked on at once: the arrays stay in the cache, and a whole novel in memory bounds
_CHUNK = 1 << 16  # pairs compared at once

_random = np.random.default_rng(1997)
_FACTORS = _random.integers(0, 1 << 32, SKETCH, dtype=np.uint32) | np.uint32(1)
_OFFSETS = _random.integers(0, 1 << 32, SKETCH, dtype=np.uint32)


def long_enough(words: str) -> bool:
    """A shorter text is like many others by chance: only an exact copy of it is called one."""
    return len(words) >= FEWEST_CHARACTERS or (len(words) >= RUN and words.count(" ") >= FEWEST_WORDS - 1)


def sketches(texts: Sequence[str]) -> np.ndarray:
    """One row of bytes per text; texts are long enough and `bare_words`."""
    rows = np.empty((len(texts), SKETCH), dtype=np.uint8)
    done = 0
    for batch in _batches(texts):
        if len(batch[0]) > _SLICE:
            smallest = reduce(np.minimum, (_smallest([part]) for part in _slices(batch[0])))
        else:
            smallest = _smallest(batch)
        rows[done : done + len(batch)] = smallest & 0xFF
        done += len(batch)
    return rows


def nearest(first: np.ndarray, second: np.ndarray, threshold: float = THRESHOLD) -> np.ndarray:
    """For each sketch of `second` the number of one in `first` that is near it, or -1."""
    found = np.full(len(second), -1, dtype=np.int64)
    for band in range(BANDS):
        order, keys = _sorted_band(first, band)
        wanted = np.flatnonzero(found < 0)
        sought = _band(second, band)[wanted]
        left, right = np.searchsorted(keys, sought, "left"), np.searchsorted(keys, sought, "right")
        shared = left < right
        for place in (left[shared], right[shared] - 1):
            _settle(found, first, order[place], second, wanted[shared], threshold)
    return found


def nearest_earlier(rows: np.ndarray, threshold: float = THRESHOLD) -> np.ndarray:
    """For each sketch the number of an earlier one that is near it, or -1."""
    found = np.full(len(rows), -1, dtype=np.int64)
    places = np.arange(len(rows))
    for band in range(BANDS):
        order, keys = _sorted_band(rows, band)
        opens = np.ones(len(keys), dtype=bool)
        opens[1:] = keys[1:] != keys[:-1]
        opening = np.maximum.accumulate(np.where(opens, places, 0))
        later = np.flatnonzero(~opens)
        for place in (opening[later], later - 1):
            _settle(found, rows, order[place], rows, order[later], threshold)
    return found


def similarity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The estimated Jaccard similarity of two sketches, or of two tables of them row by row."""
    agreeing = (one == other).mean(axis=-1)
    by_chance = 1 / 256
    return np.maximum(agreeing - by_chance, 0) / (1 - by_chance)


def _settle(
    found: np.ndarray, first: np.ndarray, ours: np.ndarray, second: np.ndarray, theirs: np.ndarray, threshold: float
) -> None:
    """Compare the candidate pairs that are still open and write down the near ones."""
    still = found[theirs] < 0
    ours, theirs = ours[still], theirs[still]
    for start in range(0, len(ours), _CHUNK):
        left, right = ours[start : start + _CHUNK], theirs[start : start + _CHUNK]
        near = similarity(first[left], second[right]) >= threshold
        found[right[near]] = left[near]


def _sorted_band(rows: np.ndarray, band: int) -> tuple[np.ndarray, np.ndarray]:
    keys = _band(rows, band)
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _band(rows: np.ndarray, band: int) -> np.ndarray:
    return np.ascontiguousarray(rows[:, 8 * band : 8 * band + 8]).view(np.uint64).ravel()


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Texts in order, together at most a slice; a longer text comes alone."""
    start, size = 0, 0
    for number, text in enumerate(texts):
        if number > start and size + len(text) > _SLICE:
            yield texts[start:number]
            start, size = number, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def _slices(text: str) -> Iterator[str]:
    """Overlapping, so that no run is lost at a cut."""
    for start in range(0, len(text) - RUN + 1, _SLICE):
        yield text[start : start + _SLICE + RUN - 1]


def _smallest(texts: Sequence[str]) -> np.ndarray:
    """For each text and each random order, the smallest number among the text's runs."""
    lengths = np.array([len(text) for text in texts])
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    runs = _hashes(codes)
    starts = np.cumsum(lengths) - lengths
    # reduceat takes pairs of edges; every second stretch, the runs that reach into the next text, is left out.
    edges = np.stack([starts, starts + lengths - RUN + 1], axis=1).ravel()[:-1]
    smallest = np.empty((len(texts), SKETCH), dtype=np.uint32)
    ordered = np.empty_like(runs)
    for number, (factor, offset) in enumerate(zip(_FACTORS, _OFFSETS)):
        np.multiply(runs, factor, out=ordered)
        np.add(ordered, offset, out=ordered)
        smallest[:, number] = np.minimum.reduceat(ordered, edges)[::2]
    return smallest


def _hashes(codes: np.ndarray) -> np.ndarray:
    """32 well-mixed bits for each run of characters."""
    mixed = np.zeros(len(codes) - RUN + 1, dtype=np.uint64)
    for place in range(RUN):
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed += codes[place : place + len(mixed)]
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(32)).astype(np.uint32)

"""The uses of one word, those in like contexts together: a word with two meanings falls apart into two groups."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headstart.checkpoint import load
from headstart.errors import ConfigError, DataError
from headstart.recipes.vectors.of_words import WordVectors
from headstart.recipes.vectors.source import Reading, Use, choose_pooling
from headstart.text.records import Row
from headstart.text.words import same_word, words
from headstart.train.device import choose_device

AROUND = 40  # characters of context on either side
CHUNK = 1024  # uses compared with all others at once
JUDGED = 2_000  # most uses for the silhouette, whose cost grows with their square


@dataclass(frozen=True)
class WordUse:
    """One use: where it stands, what stands around it, its group from 0, its cosine with the group's typical use,
    and the nearest other uses as (place in the list of uses, cosine)."""

    number: int
    start: int
    end: int
    before: str
    word: str
    after: str
    group: int
    likeness: float
    nearest: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Group:
    """Members by their place in the list of uses, the typical one first, then by falling cosine with it."""

    members: tuple[int, ...]
    within: float  # mean cosine between two members


@dataclass(frozen=True)
class Neighbours:
    """`silhouette` says how far the groups are apart: near 0 they are no groups at all, 1 is the most."""

    word: str
    uses: tuple[WordUse, ...]
    groups: tuple[Group, ...]
    between: float  # mean cosine between members of two groups
    silhouette: float
    more: bool  # the text holds more uses than were looked at


def find_neighbours(
    run: Path,
    rows: Iterable[Row],
    word: str,
    *,
    groups: int = 2,
    nearest: int = 5,
    most: int = 1_000,
    pooling: Reading = "auto",
    device: str = "cpu",
) -> Neighbours:
    """Compare the first `most` uses of a word, in any spelling of upper and lower case."""
    if [word[slice(*span)] for span in words(word)] != [word]:
        raise ConfigError(f"--neighbours {word!r}: give one word, of letters and digits only")
    for name, value in (("groups", groups), ("nearest", nearest), ("uses", most)):
        if value < 1:
            raise ConfigError(f"--{name} {value}: at least 1 is needed")
    uses, vectors = _collect(run, rows, word, most, pooling, device)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    found = _grouped(unit, min(groups, len(unit)))
    number = {member: place for place, group in enumerate(found) for member in group.members}
    likeness = [float(unit[i] @ unit[found[number[i]].members[0]]) for i in range(len(unit))]
    shown = tuple(
        WordUse(use.number, use.start, use.end, _line(use.before), use.words, _line(use.after), number[i], alike, close)
        for i, (use, alike, close) in enumerate(zip(uses, likeness, _nearest(unit, nearest)))
    )
    return Neighbours(word, shown, tuple(found), _between(unit, found), _silhouette(unit, number), len(uses) > most)


def _collect(
    run: Path, rows: Iterable[Row], word: str, most: int, pooling: Reading, device: str
) -> tuple[list[Use], np.ndarray]:
    """The vectors of at most `most` uses; one use more is given where there are more."""
    saved = load(run, choose_device(device))
    chosen, same = choose_pooling(saved, "words", pooling), same_word(word)
    source = WordVectors(saved, rows, chosen, wanted=lambda other: same_word(other) == same, around=AROUND)
    uses: list[Use] = []
    tables: list[np.ndarray] = []
    for block in source.blocks():
        uses += block.uses
        tables.append(block.table)
        if len(uses) > most:
            break
    if not uses:
        raise DataError(f"no use of {word!r} in {source.texts:,} texts; check its spelling, or give more text")
    return uses[: most + 1], np.concatenate(tables)[:most]


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _grouped(unit: np.ndarray, count: int) -> list[Group]:
    """k-means, larger groups first."""
    from sklearn.cluster import KMeans

    labels = KMeans(count, n_init=10, random_state=0).fit_predict(unit) if count > 1 else np.zeros(len(unit), int)
    groups = [_group(unit, np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return sorted(groups, key=lambda group: (-len(group.members), group.members[0]))


def _group(unit: np.ndarray, members: np.ndarray) -> Group:
    """The typical use is the one nearest to the mean of all."""
    mine, size = unit[members], len(members)
    typical = int((mine @ mine.mean(axis=0)).argmax())
    likeness = mine @ mine[typical]
    likeness[typical] = np.inf
    pairs = (float(np.square(mine.sum(axis=0)).sum()) - size) / (size * (size - 1)) if size > 1 else 1.0
    return Group(tuple(map(int, members[np.argsort(-likeness, kind="stable")])), pairs)


def _between(unit: np.ndarray, groups: list[Group]) -> float:
    sums = [unit[list(group.members)].sum(axis=0) for group in groups]
    pairs = [(i, j) for i in range(len(sums)) for j in range(i)]
    count = sum(len(groups[i].members) * len(groups[j].members) for i, j in pairs)
    return float(sum(sums[i] @ sums[j] for i, j in pairs) / count) if count else 0.0


def _silhouette(unit: np.ndarray, number: dict[int, int]) -> float:
    from sklearn.metrics import silhouette_score

    labels = [number[i] for i in range(len(unit))]
    if not 1 < len(set(labels)) < len(labels):
        return 0.0
    sample = JUDGED if len(labels) > JUDGED else None
    return float(silhouette_score(unit, labels, metric="cosine", sample_size=sample, random_state=0))


def _nearest(unit: np.ndarray, count: int) -> Iterator[tuple[tuple[int, float], ...]]:
    """For each use the nearest others."""
    for start in range(0, len(unit), CHUNK):
        cosines = unit[start : start + CHUNK] @ unit.T
        cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -np.inf
        order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(count, len(unit) - 1)]
        for row, places in zip(cosines, order):
            yield tuple((int(place), float(row[place])) for place in places)

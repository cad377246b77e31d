"""How sure a difference is: intervals by bootstrap, and a paired test.

`right` (S, N) says for each of S seeds which of N test texts a system got right; a system without chance in it,
such as a classic baseline, has one row.

What is resampled. Each repetition draws N texts with replacement, the same for every system and seed, and S seeds
with replacement; systems that were trained with the same seeds keep the same draw of them. So an interval covers
other texts of this kind and other seeds, and not another training set. With one seed it covers texts only.

What is tested. If two systems were equally good, their names could be exchanged on any text (on all its seeds at
once) without anything changing: p is the share of such random exchanges whose difference is at least as large as the
one found. It is about these trained models on other texts; with one seed each it is McNemar's test.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

REPETITIONS = 10_000
LEVEL = 0.95
BLOCK = 4_000_000  # numbers drawn at a time, so that 25,000 texts fit in memory as 400 do


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that holds 95 % of its repetitions."""

    value: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Nought lies outside."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Paired:
    """`first` − `second` in accuracy on the same texts; `ahead` of `seeds` pairs have first above second."""

    difference: Interval
    p: float
    ahead: int
    seeds: int


def accuracy_interval(right: np.ndarray, *, repetitions: int = REPETITIONS, seed: int = 0) -> Interval:
    """Mean accuracy over seeds, resampled over texts and seeds."""
    right = np.atleast_2d(right)
    draws = resampled([right], repetitions=repetitions, seed=seed)[0]
    return _interval(float(right.mean()), draws)


def paired(first: np.ndarray, second: np.ndarray, *, repetitions: int = REPETITIONS, seed: int = 0) -> Paired:
    """Compare two systems on the same texts."""
    first, second = np.atleast_2d(first), np.atleast_2d(second)
    one, other = resampled([first, second], repetitions=repetitions, seed=seed)
    interval = _interval(float(first.mean() - second.mean()), one - other)
    pairs = np.broadcast_arrays(first.mean(1), second.mean(1)) if _can_pair(first, second) else (first[:0].mean(1),) * 2
    p = exchange_test(first.mean(0) - second.mean(0), repetitions=repetitions, seed=seed)
    return Paired(interval, p, int((pairs[0] > pairs[1]).sum()), len(pairs[0]))


def resampled(systems: Sequence[np.ndarray], *, repetitions: int = REPETITIONS, seed: int = 0) -> list[np.ndarray]:
    """For each system (S, N), its mean accuracy in each repetition; the same texts and seeds are drawn for all."""
    random = np.random.default_rng(seed)
    texts = systems[0].shape[1]
    assert all(right.shape[1] == texts for right in systems), "the same texts for every system"
    patterns, shares = _patterns(systems)
    found: list[list[np.ndarray]] = [[] for _ in systems]
    for size in _blocks(repetitions, len(shares)):
        text_counts = random.multinomial(texts, shares, size=size) / texts  # (size, K)
        seed_counts = {
            seeds: random.multinomial(seeds, np.full(seeds, 1 / seeds), size=size) / seeds  # (size, S)
            for seeds in sorted({len(right) for right in systems})
        }
        for draws, right in zip(found, patterns):
            per_seed = text_counts @ right.T  # (size, S)
            draws.append((per_seed * seed_counts[len(right)]).sum(1))
    return [np.concatenate(draws) for draws in found]


def exchange_test(differences: np.ndarray, *, repetitions: int = REPETITIONS, seed: int = 0) -> float:
    """p for the (N,) differences per text under random signs; never nought, for the data itself is one of them."""
    random = np.random.default_rng(seed)
    sizes, texts = np.unique(np.abs(differences[differences != 0]).round(9), return_counts=True)
    if not len(sizes):
        return 1.0
    heads = random.binomial(texts, 0.5, size=(repetitions, len(texts)))  # texts that differ equally flip as one
    extreme = np.abs((2 * heads - texts) @ sizes) >= abs(differences.sum()) - 1e-6
    return float(extreme.sum() + 1) / (repetitions + 1)


def mean_interval(values: Sequence[float]) -> Interval:
    """The mean over seeds with Student's interval; of one seed nothing can be said, so it reaches everywhere."""
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return Interval(mean, -math.inf, math.inf)
    from scipy.stats import t

    reach = float(t.ppf(0.5 + LEVEL / 2, len(array) - 1) * array.std(ddof=1) / math.sqrt(len(array)))
    return Interval(mean, mean - reach, mean + reach)


def _patterns(systems: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """Texts that every system and seed treats alike are drawn together: the same chances, far fewer numbers.

    Returns for each system (S, K) of the K different columns, and the share (K,) of the texts that have each.
    """
    columns, counts = np.unique(np.concatenate(systems).astype(bool), axis=1, return_counts=True)
    ends = np.cumsum([len(right) for right in systems])[:-1]
    return np.split(columns.astype(float), ends), counts / counts.sum()


def _interval(value: float, draws: np.ndarray) -> Interval:
    low, high = np.quantile(draws, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(value, float(low), float(high))


def _can_pair(first: np.ndarray, second: np.ndarray) -> bool:
    return len(first) == len(second) or 1 in (len(first), len(second))


def _blocks(repetitions: int, width: int) -> Iterator[int]:
    size = max(1, min(repetitions, BLOCK // max(1, width)))
    for start in range(0, repetitions, size):
        yield min(size, repetitions - start)

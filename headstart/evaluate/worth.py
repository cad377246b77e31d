"""What the head start was worth, in labels and in time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from headstart.evaluate.phrases import rounded
from headstart.evaluate.significance import LEVEL, resampled

REPETITIONS = 2_000
Curve = Sequence[tuple[float, float]]  # after each epoch: seconds since the start, accuracy on validation


@dataclass(frozen=True)
class LabelsWorth:
    """With `labels` labels one system is as good as the other with `needed`; `low` and `high` hold 95 % of repetitions.

    0 stands for fewer than `least`, infinity for more than `most`: the curve was not measured there.
    """

    labels: int
    accuracy: float
    needed: float
    low: float
    high: float
    least: int
    most: int
    flat: bool = False  # scratch's curve does not rise, so nothing can be read off it

    @property
    def sure(self) -> bool:
        return self.low > self.labels


@dataclass(frozen=True)
class TimeSaved:
    """For one seed: when scratch was best on validation, and when pretrained was as good; epoch 0 means never."""

    seed: int
    scratch_best: float
    scratch_epoch: int
    scratch_seconds: float
    pretrained_epoch: int
    pretrained_seconds: float


def labels_worth(
    scratch: Mapping[int, np.ndarray], pretrained: Mapping[int, np.ndarray], *, seed: int = 0
) -> list[LabelsWorth]:
    """For each number of labels, how many scratch needs for what pretrained reaches; `right` (S, N) for each number.

    Between two measured numbers scratch's curve is a straight line over the logarithm of the labels, after dents
    have been levelled out (more labels do not hurt in the long run). Texts and seeds are resampled for the interval.
    """
    counts = sorted(scratch)
    assert counts == sorted(pretrained), "both curves at the same numbers of labels"
    systems = [*(np.atleast_2d(scratch[n]) for n in counts), *(np.atleast_2d(pretrained[n]) for n in counts)]
    draws = np.stack(resampled(systems, repetitions=REPETITIONS, seed=seed), axis=1)  # (repetitions, 2K)
    means = np.array([right.mean() for right in systems])
    half, found = len(counts), []
    flat = bool(np.ptp(levelled(means[:half])) == 0)
    needs = np.array([_needs(counts, levelled(row[:half]), row[half:]) for row in (means, *draws)])
    lows, highs = np.quantile(needs[1:], [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0, method="nearest")
    for i, labels in enumerate(counts):
        ends = float(needs[0, i]), float(lows[i]), float(highs[i])
        found.append(LabelsWorth(labels, float(means[half + i]), *ends, least=counts[0], most=counts[-1], flat=flat))
    return found


def worth_sentence(found: Sequence[LabelsWorth]) -> str:
    """How many labels pretraining is worth, from the largest number of labels for which that can be said."""
    beyond = [each for each in found if math.isinf(each.needed)]
    inside = [each for each in found if not math.isinf(each.needed)]
    if inside and inside[0].flat:
        one = inside[0]
        return (
            f"What pretraining is worth in labels cannot be said: from {one.least:,} to {one.most:,} labels scratch "
            "does not get better."
        )
    if not inside:
        one = beyond[0]
        return (
            f"With {one.labels:,} labels the pretrained model ({one.accuracy:.3f}) is already better than scratch with "
            f"all {one.most:,}: pretraining is worth more than {one.most - one.labels:,} labels."
        )
    one = inside[-1]
    if one.needed <= one.labels:
        return (
            f"Pretraining is worth no labels here: with {one.labels:,} the pretrained model ({one.accuracy:.3f}) does "
            f"what scratch does with {_labels(one.needed, one)}."
        )
    doubt = "" if one.sure else ", so it may be worth nothing"
    sentence = (
        f"Pretraining is worth about {rounded(one.needed - one.labels)} labels: with {one.labels:,} the pretrained "
        f"model ({one.accuracy:.3f}) does what scratch does with about {_labels(one.needed, one)} "
        f"(95 % interval: {_labels(one.low, one)} to {_labels(one.high, one)}{doubt})."
    )
    if beyond and beyond[0].labels < beyond[0].most:
        sentence += f" With {beyond[0].labels:,} it is better than scratch with all {beyond[0].most:,}."
    return sentence


def time_saved(scratch: Mapping[int, Curve], pretrained: Mapping[int, Curve]) -> list[TimeSaved]:
    """Seed by seed, on validation."""
    found = []
    for seed in sorted(scratch.keys() & pretrained.keys()):
        best = max(accuracy for _, accuracy in scratch[seed])
        epoch, seconds = _first_at(scratch[seed], best)
        found.append(TimeSaved(seed, best, epoch, seconds, *_first_at(pretrained[seed], best)))
    return found


def typical(found: Sequence[TimeSaved]) -> dict[str, float]:
    """Medians over the seeds, of the pretrained ones over those that got there at all."""
    passed = [each for each in found if each.pretrained_epoch]
    return {
        "seeds": len(found),
        "passed": len(passed),
        "scratch_best": float(np.mean([each.scratch_best for each in found])),
        "scratch_epoch": median(each.scratch_epoch for each in found),
        "scratch_seconds": median(each.scratch_seconds for each in found),
        "pretrained_epoch": median(each.pretrained_epoch for each in passed) if passed else 0,
        "pretrained_seconds": median(each.pretrained_seconds for each in passed) if passed else 0.0,
    }


def levelled(values: np.ndarray) -> np.ndarray:
    """The nearest curve, by least squares, that never falls: neighbours in the wrong order share their mean."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((float(value), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (left, n), (right, m) = pools[-2:]
            pools[-2:] = [((left * n + right * m) / (n + m), n + m)]
    return np.concatenate([np.full(n, value) for value, n in pools])


def _needs(counts: Sequence[int], curve: np.ndarray, levels: np.ndarray) -> list[float]:
    return [_needed(counts, curve, level) for level in levels]


def _needed(counts: Sequence[int], curve: np.ndarray, level: float) -> float:
    """The fewest labels at which the rising curve reaches the level."""
    if level > curve[-1]:
        return math.inf
    right = int(np.searchsorted(curve, level, side="left"))
    if right == 0:
        return 0.0 if level < curve[0] else float(counts[0])
    share = (level - curve[right - 1]) / (curve[right] - curve[right - 1])
    low, high = math.log(counts[right - 1]), math.log(counts[right])
    return math.exp(low + share * (high - low))


def _first_at(curve: Curve, level: float) -> tuple[int, float]:
    for epoch, (seconds, accuracy) in enumerate(curve, start=1):
        if accuracy >= level:
            return epoch, seconds
    return 0, 0.0


def _labels(needed: float, one: LabelsWorth) -> str:
    if math.isinf(needed):
        return f"more than {one.most:,}"
    return f"fewer than {one.least:,}" if needed == 0 else rounded(needed)

"""How good predictions are, from the true classes and the probabilities given to them.

Letters: N texts, C classes. `labels` (N,) holds class numbers, `probabilities` (N, C) sums to one in each row.
"""

from dataclasses import dataclass

import numpy as np

LEAST = 1e-15  # a probability of nought would make one confident mistake cost infinitely much
BINS = 10


@dataclass(frozen=True)
class Bin:
    """Texts predicted with about the same confidence, and how often that was right; `low` < confidence ≤ `high`."""

    low: float
    high: float
    texts: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Scores:
    """All scores of one set of predictions. `confusion[i][j]`: texts of class i that were called j."""

    texts: int
    accuracy: float
    macro_f1: float
    log_loss: float
    calibration_error: float
    confusion: tuple[tuple[int, ...], ...]
    bins: tuple[Bin, ...]


def score(labels: np.ndarray, probabilities: np.ndarray) -> Scores:
    """Everything at once; of equal probabilities the first class counts as the prediction."""
    labels, probabilities = np.asarray(labels), np.asarray(probabilities, dtype=float)
    assert len(labels) == len(probabilities) > 0, "a probability row for each text, and at least one text"
    counts = confusion(labels, probabilities.argmax(1), probabilities.shape[1])
    bins = reliability(labels, probabilities)
    return Scores(
        texts=len(labels),
        accuracy=accuracy(counts),
        macro_f1=macro_f1(counts),
        log_loss=log_loss(labels, probabilities),
        calibration_error=calibration_error(bins),
        confusion=tuple(tuple(map(int, row)) for row in counts),
        bins=tuple(bins),
    )


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """(C, C) counts: the true class down, the predicted one across."""
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def accuracy(counts: np.ndarray) -> float:
    return float(np.trace(counts) / counts.sum())


def macro_f1(counts: np.ndarray) -> float:
    """The plain mean over the classes that occur, as truth or as prediction; a class never hit counts nought."""
    hits, seen = np.diagonal(counts), counts.sum(0) + counts.sum(1)
    return float(np.mean(2 * hits[seen > 0] / seen[seen > 0]))


def log_loss(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean −ln p(true class), in nats."""
    true = probabilities[np.arange(len(labels)), labels]
    return float(-np.log(np.clip(true, LEAST, 1.0)).mean())


def reliability(labels: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> list[Bin]:
    """Confidence against accuracy, in equal steps of confidence from 0 to 1; steps without a text are left out."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == labels
    step = np.clip(np.ceil(confidence * bins - 1e-9).astype(int) - 1, 0, bins - 1)
    return [
        Bin(i / bins, (i + 1) / bins, int(here.sum()), float(confidence[here].mean()), float(right[here].mean()))
        for i in range(bins)
        if (here := step == i).any()
    ]


def calibration_error(bins: list[Bin]) -> float:
    """Expected calibration error: how far confidence and accuracy lie apart, on average over the texts."""
    texts = sum(each.texts for each in bins)
    return sum(each.texts * abs(each.confidence - each.accuracy) for each in bins) / texts

"""Probabilities that mean what they say, and what is gained by keeping silent when unsure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headstart.evaluate.scores import LEAST

COLDEST, HOTTEST = 0.05, 20.0  # a validation set without a mistake would ask for ever more confidence
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)


def softmax(scores: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """(N, C) scores to probabilities, evened out by a temperature above one and sharpened by one below."""
    shifted = scores / temperature
    powers = np.exp(shifted - shifted.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def fit_temperature(labels: np.ndarray, scores: np.ndarray) -> float:
    """The temperature with the least log-loss; `scores` (N, C) are logits or log-probabilities.

    In the coldness β = 1/T the loss is convex, with the slope mean(Σ p z − z_true): halve the interval in which
    the slope changes its sign.
    """
    true = scores[np.arange(len(labels)), labels]
    low, high = np.log(1 / HOTTEST), np.log(1 / COLDEST)
    for _ in range(60):
        middle = (low + high) / 2
        expected = (softmax(scores, np.exp(-middle)) * scores).sum(1)
        low, high = (low, middle) if np.mean(expected - true) > 0 else (middle, high)
    return float(np.exp(-(low + high) / 2))


def retemper(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """The same softening for a model that gives probabilities instead of logits."""
    return softmax(np.log(np.clip(probabilities, LEAST, 1.0)), temperature)


@dataclass(frozen=True)
class Abstention:
    """Answer only where confidence ≥ `below`: the share of texts answered, and how many of these are right."""

    below: float
    coverage: float
    accuracy: float


def abstention(
    labels: np.ndarray, probabilities: np.ndarray, coverages: Sequence[float] = COVERAGES
) -> list[Abstention]:
    """Accuracy against coverage. Texts of equal confidence are answered together or not at all."""
    confidence = probabilities.max(1)
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    right = np.cumsum(probabilities.argmax(1)[order] == labels[order])
    curve = []
    for coverage in coverages:
        least = ranked[max(1, round(coverage * len(ranked))) - 1]
        answered = int(np.searchsorted(-ranked, -least, side="right"))
        curve.append(Abstention(float(least), answered / len(ranked), float(right[answered - 1] / answered)))
    return curve

"""How good a classifier is on labelled rows that it has not seen."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headstart.errors import DataError
from headstart.evaluate.scores import Scores, score
from headstart.recipes.predict import load_classifier, predict_rows
from headstart.text.readers import read_labelled
from headstart.text.records import Reading


@dataclass(frozen=True)
class Evaluation:
    """Scores, and those of always naming the commonest class of the file."""

    labels: tuple[str, ...]
    scores: Scores
    majority: float
    int8: "Int8Loss | None" = None


@dataclass(frozen=True)
class Int8Loss:
    """What `predict --int8` would answer: its accuracy, and how many labels are others than in float32."""

    accuracy: float
    changed: int


def evaluate_file(run: Path, file: str, reading: Reading, *, int8: bool = False, device: str = "auto") -> Evaluation:
    """Scores in float32, and with `int8` also what that would cost."""
    labels = load_classifier(run).card.labels
    rows = read_labelled(file, reading)
    numbers = {label: number for number, label in enumerate(labels)}
    stranger = next((row for row in rows if row.label not in numbers), None)
    if stranger is not None:
        known = ", ".join(labels[:10])
        raise DataError(f"{stranger.source}:{stranger.line}: label {stranger.label!r}, but this model knows {known}")
    true = np.array([numbers[row.label] for row in rows])
    shares = np.array([prediction.scores for prediction in predict_rows(run, rows, device=device)])
    majority = float(np.bincount(true).max() / len(true))
    if not int8:
        return Evaluation(labels, score(true, shares), majority)
    rough = np.array([prediction.scores for prediction in predict_rows(run, rows, int8=True)])
    changed = int((rough.argmax(1) != shares.argmax(1)).sum())
    return Evaluation(labels, score(true, shares), majority, Int8Loss(score(true, rough).accuracy, changed))

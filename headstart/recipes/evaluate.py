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


def evaluate_file(run: Path, file: str, reading: Reading) -> Evaluation:
    labels = load_classifier(run).card.labels
    rows = read_labelled(file, reading)
    numbers = {label: number for number, label in enumerate(labels)}
    stranger = next((row for row in rows if row.label not in numbers), None)
    if stranger is not None:
        known = ", ".join(labels[:10])
        raise DataError(f"{stranger.source}:{stranger.line}: label {stranger.label!r}, but this model knows {known}")
    true = np.array([numbers[row.label] for row in rows])
    shares = np.array([prediction.scores for prediction in predict_rows(run, rows)])
    return Evaluation(labels, score(true, shares), float(np.bincount(true).max() / len(true)))

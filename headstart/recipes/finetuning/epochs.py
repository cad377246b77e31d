"""What each epoch came to on validation, and which of them is best."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headstart.data.labelled import LabelledTexts
from headstart.evaluate.calibration import softmax
from headstart.evaluate.scores import score
from headstart.model.models import Classifier
from headstart.recipes.predict import logits_of
from headstart.recipes.running.training import Scores
from headstart.train.dead import constant_warning
from headstart.train.journal import Journal
from headstart.train.keeping import Memory
from headstart.train.loop import Step


@dataclass(frozen=True)
class Epoch:
    """Scores on validation after an epoch; `seconds` since the start of training."""

    number: int
    seconds: float
    train_loss: float
    valid_loss: float
    accuracy: float
    macro_f1: float


class Record:
    """Turns evaluations into epochs; all it knows of the past is in the journal, so a resumed run knows it too."""

    def __init__(self, journal: Journal, ends: dict[int, int], watch: Callable[[Step | Epoch], None]):
        self.journal, self.ends, self.watch, self.warning = journal, ends, watch, ""

    def step(self, event: Step | Scores) -> None:
        if isinstance(event, Step):
            self.watch(event)

    def epoch(self, memory: Memory, model: Classifier, held: LabelledTexts) -> Scores:
        logits = logits_of(model, held)
        self.warning = constant_warning(logits.argmax(1).tolist(), logits.shape[1])
        scores = score(held.labels, softmax(logits))
        found = {
            "epoch": float(self.ends[memory.step]),
            "seconds": memory.seconds,
            "train_loss": float(np.mean(self.losses(memory))),
            "valid_loss": scores.log_loss,
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "choice": scores.accuracy - 1e-6 * scores.log_loss,  # accuracy decides, the loss where it is equal
        }
        self.watch(_epoch(found))
        return found

    def losses(self, memory: Memory) -> list[float]:
        """Of the steps since the last evaluation."""
        lines = self.journal.read()
        return [line["loss"] for line in lines if "rate" in line and memory.evaluated < line["step"] <= memory.step]

    def epochs(self) -> list[Epoch]:
        return [_epoch(line) for line in self.journal.read() if "accuracy" in line]


def _epoch(found: Scores) -> Epoch:
    return Epoch(
        int(found["epoch"]),
        found["seconds"],
        found["train_loss"],
        found["valid_loss"],
        found["accuracy"],
        found["macro_f1"],
    )

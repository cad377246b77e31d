"""The floating-point operations of a pretraining, counted on the batches that it reads."""

from typing import Any

import numpy as np

from headstart.model.bill import work
from headstart.model.shape import Shape
from headstart.recipes.pretraining.objectives import Objective
from headstart.recipes.settings import Settings
from headstart.text.store import Store
from headstart.text.tokenizer import Tokenizer
from headstart.train.course import Course

BATCHES = 32  # on which the mean is taken: rows of sentence pairs are as long as the longest of their batch


def operations_per_step(
    objective: Objective, settings: Settings, store: Store, tokenizer: Tokenizer, seed: int
) -> tuple[float, float]:
    """The mean over the first batches: operations of an optimiser step, and the positions that it computes."""
    course = Course(objective.windows(store.train, settings.data, tokenizer, seed))
    batches = [course.at(number) for number in range(min(BATCHES, course.source.steps(0)))]
    counted = [batch_operations(objective, settings, batch) for batch in batches]
    times = settings.train.accumulate
    return times * float(np.mean(counted)), times * float(np.mean([batch.tokens() for batch in batches]))


def batch_operations(objective: Objective, settings: Settings, batch: Any) -> int:
    """Forward and backward, three products for each: every position through the body, targets through the head.

    A sampled loss multiplies with the sample only. Padding is computed, so it counts.
    """
    rows, length = batch.ids.shape
    targets = batch.targets[batch.targets >= 0]
    columns = _columns(settings, targets.unique().numel())
    forward = rows * length * _body(settings.model, length) + len(targets) * _head(objective, settings.model, columns)
    if objective.segments:
        forward += rows * (2 * settings.model.width**2 + 4 * settings.model.width)  # pooler and next sentence
    return 3 * forward


def _body(shape: Shape, length: int) -> int:
    return work(shape, "lm", length=length).forward - 2 * shape.width * shape.vocabulary


def _head(objective: Objective, shape: Shape, columns: int) -> int:
    dense = 0 if objective.causal else 2 * shape.width**2
    return 2 * shape.width * columns + dense


def _columns(settings: Settings, different: int) -> int:
    """Tokens of the vocabulary that a target is scored against."""
    vocabulary = settings.model.vocabulary
    drawn = settings.train.drawn(vocabulary)
    return min(vocabulary, drawn + different) if drawn else vocabulary

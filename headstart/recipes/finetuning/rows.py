"""Labelled rows, and texts with guessed labels beside them, as batches."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headstart.checkpoint import Card
from headstart.data.batch import IGNORED
from headstart.data.buckets import Bucketing
from headstart.data.labelled import LabelledTexts
from headstart.errors import DataError
from headstart.recipes.guess import Guessed
from headstart.recipes.predict import EVALUATION, encode, frame
from headstart.recipes.settings import Settings
from headstart.text.records import Row
from headstart.text.tokenizer import Tokenizer

LONGEST_BATCH = 8_192  # tokens, padding included


def lay_out_rows(
    rows: Sequence[Row],
    tokenizer: Tokenizer,
    labels: tuple[str, ...],
    card: Card,
    settings: Settings,
    seed: int,
    *,
    learns: bool,
    guessed: Guessed | None = None,
) -> LabelledTexts:
    numbers = {label: number for number, label in enumerate(labels)}
    unknown = next((row for row in rows if row.label not in numbers), None)
    if unknown is not None:
        raise DataError(
            f"{unknown.source}:{unknown.line}: label {unknown.label!r} does not stand in the training data, "
            f"which has {', '.join(labels[:10])}"
        )
    classes, shares = [numbers[row.label] for row in rows], None
    if guessed is not None:
        rows, classes, shares = guessed.beside(rows, classes, settings.finetune.repeats)
    ids, second = encode(rows, tokenizer)
    return LabelledTexts(
        ids,
        classes,
        frame=frame(tokenizer, card.causal),
        pad=tokenizer.pad,
        context=card.shape.context,
        second=second,
        shares=shares,
        keep=card.keep,
        bucketing=Bucketing(rows=settings.finetune.rows, budget=LONGEST_BATCH) if learns else EVALUATION,
        shuffle=learns,
        seed=seed,
    )


def class_weights(texts: LabelledTexts, labels: tuple[str, ...]) -> Tensor:
    counts = np.bincount(texts.labels[texts.labels != IGNORED], minlength=len(labels))
    return torch.tensor(counts.sum() / (len(labels) * np.maximum(counts, 1)), dtype=torch.float32)

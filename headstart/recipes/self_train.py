"""A teacher guesses the labels of texts that have none; a student learns from the guesses and from the true labels.

runs/clf/teacher/      an ordinary fine-tuning on the labels
runs/clf/guesses.npy   (N, C): how likely each class is for each unlabelled text
runs/clf/best/         the student, as any other classifier
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headstart.errors import DataError, RunError
from headstart.recipes.finetune import FineTuned, finetune
from headstart.recipes.guess import Guessed, guess, without_known
from headstart.text.records import Document, Row
from headstart.train.device import join_workers

GUESSES, TEACHER = "guesses.npy", "teacher"


def self_train(
    train: Sequence[Row],
    valid: Sequence[Row],
    *,
    unlabelled: Sequence[Document],
    out: Path,
    labels: tuple[str, ...],
    device: str,
    say: Callable[[str], None],
    **how: Any,
) -> FineTuned:
    """`how` is what `finetune` takes; teacher and student are trained alike."""
    if any(row.text_b for row in [*train, *valid]):
        raise DataError("--unlabelled: labels of single texts can be guessed, but these rows are pairs (text_b)")
    texts = without_known(unlabelled, train, valid)
    if not texts:
        raise DataError("--unlabelled: every text stands in the training or validation rows already")
    left = len(unlabelled) - len(texts)
    say(f"{len(texts):,} unlabelled texts" + (f"; {left:,} more stand there twice or have labels" if left else ""))
    say(f"Teacher: fine-tuned on {len(train):,} labels.")
    finetune(train, valid, out=out / TEACHER, labels=labels, device=device, **alone(how))
    guessed = _guessed(out, texts, train, valid, labels, device, say)
    guessed = guessed.surest(how["settings"].finetune.surest)
    say(f"Student: the {len(guessed.rows):,} surest guesses and {len(train):,} true labels.")
    return finetune(train, valid, guessed=guessed, out=out, labels=labels, device=device, **how)


def alone(how: dict[str, Any]) -> dict[str, Any]:
    """The teacher's baseline has a vote of its own among the guesses."""
    settings = how["settings"]
    return {**how, "settings": replace(settings, finetune=replace(settings.finetune, baseline=False))}


def _guessed(
    out: Path,
    texts: list[Row],
    train: Sequence[Row],
    valid: Sequence[Row],
    labels: tuple[str, ...],
    device: str,
    say: Callable[[str], None],
) -> Guessed:
    """Made once and kept, so that a resumed student goes on with the same guesses."""
    path, workers = out / GUESSES, join_workers(device)
    if workers.first and not path.exists():
        say("Guessing the labels of the unlabelled texts.")
        aside = path.with_name(path.name + ".new")
        with aside.open("wb") as file:
            np.save(file, guess(out / TEACHER, texts, train, valid, labels, device).shares)
        aside.replace(path)
    workers.wait()
    try:
        shares = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as problem:
        raise RunError(f"{path}: damaged ({problem}); delete it and go on with --resume") from None
    if shares.shape != (len(texts), len(labels)):
        raise RunError(
            f"{path}: holds guesses for {len(shares):,} texts, but there are {len(texts):,} unlabelled texts now. "
            "Use the old texts, or start anew in another --out"
        )
    return Guessed(texts, shares)

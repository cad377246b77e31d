"""Labels for texts that have none, guessed by a fine-tuned model and two classic ones together."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from headstart.evaluate.baseline import fit_strongest, plain_text
from headstart.evaluate.company import fit_company
from headstart.recipes.labels import hash_rows
from headstart.recipes.predict import load_classifier, predict_rows
from headstart.text.guard.fingerprints import normalise
from headstart.text.records import Document, Row
from headstart.train.device import autocast, choose_device, resolve_precision


@dataclass(frozen=True, eq=False)
class Guessed:
    """Texts without a label, and how likely each class is for each of them. (N, C), float32"""

    rows: Sequence[Row]
    shares: np.ndarray

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(hash_rows(self.rows).encode() + self.shares.tobytes()).hexdigest()

    def surest(self, share: float) -> "Guessed":
        """That share of the texts whose likeliest class is likeliest, in their order, and sharpened: p² / Σ p²."""
        kept = np.sort(np.argsort(-self.shares.max(1), kind="stable")[: max(1, round(share * len(self.rows)))])
        sharp = self.shares[kept] ** 2
        return Guessed([self.rows[row] for row in kept], sharp / sharp.sum(1, keepdims=True))

    def beside(
        self, rows: Sequence[Row], classes: Sequence[int], repeats: int
    ) -> tuple[list[Row], list[int], np.ndarray]:
        """Labelled rows, `repeats` times, and the guessed ones: rows, their likeliest classes, how likely each is."""
        sure = np.eye(self.shares.shape[1], dtype=np.float32)[list(classes)]
        together = [*list(rows) * repeats, *self.rows]
        return (
            together,
            [*list(classes) * repeats, *self.shares.argmax(1)],
            np.concatenate([*[sure] * repeats, self.shares]),
        )


def without_known(texts: Sequence[Document], *known: Sequence[Row]) -> list[Row]:
    """Each text once, as a row without a label; those that stand among the `known` rows are left out."""
    seen = {normalise(row.text) for rows in known for row in rows}
    found = []
    for text in texts:
        if (form := normalise(text.text)) not in seen:
            seen.add(form)
            found.append(Row(text.text, text.source, text.line, text.pieces))
    return found


def guess(
    teacher: Path,
    texts: Sequence[Row],
    train: Sequence[Row],
    valid: Sequence[Row],
    labels: tuple[str, ...],
    device: str,
) -> Guessed:
    """The mean of three calibrated opinions: the model in `teacher`, TF-IDF, and the company that tokens keep.

    One reads the order of words, one every word and ending, one knows words that no label names: they err on
    different texts.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    parts, truth = (train, valid), [np.array([numbers[row.label] for row in part]) for part in (train, valid)]
    classic = fit_strongest(train, valid, labels)
    saved, where = load_classifier(teacher), choose_device(device)
    tokenizer = saved.tokenizer
    ids, of_texts = [tokenizer.encode_documents(part) for part in parts], tokenizer.encode_documents(texts)
    company = fit_company(
        [*of_texts, *ids[0]],
        ids[0],
        truth[0],
        ids[1],
        truth[1],
        len(labels),
        vocabulary=tokenizer.size,
        specials=tokenizer.specials,
    )
    with autocast(where, resolve_precision("auto", where, saved.card.shape.width)):
        read = np.array([prediction.scores for prediction in predict_rows(teacher, texts, device)])
    opinions = [classic.probabilities([plain_text(row) for row in texts]), company.probabilities(of_texts), read]
    return Guessed(texts, np.mean(opinions, axis=0).astype(np.float32))

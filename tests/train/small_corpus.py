"""A corpus that the project makes itself, and settings small enough for a test."""

import random
from pathlib import Path

from headstart.recipes.settings import Settings, read_settings

WORDS = ["the", "a", "old", "cat", "dog", "bird", "saw", "liked", "and", "but", "in", "garden", "sun", "rain", "never"]


def small_corpus(folder: Path, documents: int = 300) -> str:
    draw = random.Random(0)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(5, 30))) for _ in range(documents)]
    file = folder / "corpus.txt"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def small_settings(*overrides: str) -> Settings:
    fixed = [
        "model.vocabulary=320", "model.width=16", "model.depth=2", "model.heads=2", "model.hidden=32",
        "data.rows=4", "data.length=16", "train.save_every=5", "train.evaluate_every=10",
        "train.evaluate_tokens=512", "data.holdout=0.05", "reading.documents=lines",
    ]  # fmt: skip
    return read_settings("tiny", None, [*fixed, *overrides])

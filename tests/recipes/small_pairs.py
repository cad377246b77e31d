"""Pairs that the project makes itself: a made-up language that says things backwards, with other words."""

import random
from pathlib import Path

from headstart.recipes.settings import Settings, read_settings

WORDS = {"the": "le", "old": "vieux", "cat": "chat", "dog": "chien", "saw": "vit", "a": "un", "bird": "oiseau",
         "and": "et", "rain": "pluie", "sun": "soleil", "near": "pres", "house": "maison"}  # fmt: skip


def small_pairs(folder: Path, name: str, count: int, seed: int) -> str:
    """Two files beside each other, as SOURCE:TARGET."""
    draw = random.Random(seed)
    sources = [draw.choices(list(WORDS), k=draw.randint(1, 7)) for _ in range(count)]
    one, other = folder / f"{name}.en", folder / f"{name}.fr"
    one.write_text("".join(f"{' '.join(words)}\n" for words in sources), "utf-8")
    other.write_text("".join(f"{' '.join(WORDS[word] for word in words[::-1])}\n" for words in sources), "utf-8")
    return f"{one}:{other}"


def small_translator(*overrides: str) -> Settings:
    fixed = [
        "model.vocabulary=330", "model.width=16", "model.depth=1", "model.heads=2", "model.hidden=32",
        "model.positions=rotary", "model.dropout=0.1", "train.save_every=5", "train.evaluate_every=10",
        "translator.tokens=256", "translator.average=3", "translator.bleu_sentences=10",
    ]  # fmt: skip
    return read_settings("translate-tiny", None, [*fixed, *overrides])

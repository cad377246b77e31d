"""The plain numbers of a part: rows, labels, lengths."""

from typing import Any

import numpy as np

from headstart.text.guard.parts import Part

QUANTILES = {"smallest": 0.0, "p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "largest": 1.0}


def facts(part: Part) -> dict[str, Any]:
    """A table ready for JSON; `tokens` and `unknown` only where a tokenizer counted them."""
    table: dict[str, Any] = {
        "rows": part.rows,
        "empty": int(part.empty.sum()),
        "labels": label_counts(part),
        "characters": quantiles(part.characters),
        "words": quantiles(part.words),
    }
    if len(part.tokens):
        total = int(part.tokens.sum())
        table["tokens"] = quantiles(part.tokens) | {"total": total}
        table["unknown"] = {"tokens": part.unknown, "rate": part.unknown / max(total, 1)}
    return table


def label_counts(part: Part) -> dict[str, int]:
    """Rows of each label, by name; rows without a label are left out."""
    counts = np.bincount(part.labels, minlength=len(part.label_names))
    return {name: int(count) for name, count in sorted(zip(part.label_names, counts)) if name}


def quantiles(lengths: np.ndarray) -> dict[str, float]:
    """Lengths that rows really have (the lower neighbour, never a value between two), and their mean."""
    if not len(lengths):
        return {}
    values = np.quantile(lengths, list(QUANTILES.values()), method="lower")
    return {name: int(value) for name, value in zip(QUANTILES, values)} | {"mean": round(float(lengths.mean()), 1)}

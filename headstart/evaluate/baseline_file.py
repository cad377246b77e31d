"""A fitted baseline on disk: its pieces as a list, its numbers as tensors, and no pickle."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from headstart.checkpoint import read_tensors, write_tensors
from headstart.errors import CheckpointError
from headstart.evaluate.baseline import CLASSICS, Fitted, Regressed, counters

PIECES, NUMBERS = "pieces.json", "regression.safetensors"


def write_baseline(fitted: Fitted, folder: Path) -> None:
    """What it takes to answer again; how it was fitted stays behind."""
    assert fitted.found is not None, "a baseline that counts nothing has nothing to keep"
    parts = [part for _, part in fitted.vectorizer.transformer_list]
    kept = {
        "kind": fitted.kind.name,
        "strength": fitted.strength,
        "temperature": fitted.temperature,
        "rows": len(fitted.found.regression.coef_),
        "pieces": [sorted(part.vocabulary_, key=part.vocabulary_.__getitem__) for part in parts],
    }
    regression = fitted.found.regression
    numbers = {f"rarity.{number}": part.idf_ for number, part in enumerate(parts)}
    numbers |= {"weights": regression.coef_, "offsets": regression.intercept_, "classes": regression.classes_}
    numbers |= {"shares": fitted.shares}
    tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in numbers.items()}
    folder.mkdir()
    (folder / PIECES).write_text(json.dumps(kept, ensure_ascii=False), "utf-8", errors="surrogatepass")
    write_tensors(tensors, folder / NUMBERS)


def read_baseline(folder: Path) -> Fitted:
    """The baseline that was written there: it gives the same probabilities, to the last bit."""
    try:
        kept: dict[str, Any] = json.loads((folder / PIECES).read_text("utf-8", errors="surrogatepass"))
        kind = next(kind for kind in CLASSICS if kind.name == kept["kind"])
        numbers = read_tensors(folder / NUMBERS, about=sum(map(len, kept["pieces"])) * (1 + int(kept["rows"])))
        found = {name: value.numpy() for name, value in numbers.items()}
        union = counters(kind, vocabularies=kept["pieces"])
        for number, (_, part) in enumerate(union.transformer_list):
            part.idf_ = found[f"rarity.{number}"]
        regression = LogisticRegression()
        regression.coef_, regression.intercept_ = found["weights"], found["offsets"]
        regression.classes_, regression.n_features_in_ = found["classes"], found["weights"].shape[1]
        shares, temperature = found["shares"], float(kept["temperature"])
        nobody = np.zeros((0, len(shares)))
        regressed = Regressed(float(kept["strength"]), temperature, nobody, regression)
    except (ValueError, KeyError, TypeError, StopIteration, OSError, RecursionError) as problem:
        raise CheckpointError(f"{folder}: not a saved baseline: {problem!r}") from None
    return Fitted(kind, 0.0, shares, nobody, union, regressed)

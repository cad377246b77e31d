"""A classifier in int8 answers nearly the same, and evaluate says how nearly."""

from pathlib import Path

import numpy as np
import pytest
import torch

from headstart.checkpoint import Card, save
from headstart.model.init import initialise
from headstart.model.models import Classifier, Pooling
from headstart.model.shape import Shape
from headstart.recipes.evaluate import evaluate_file
from headstart.recipes.int8 import Int8Linear, to_int8
from headstart.recipes.predict import predict_rows
from headstart.text.readers import read_rows
from headstart.text.records import Reading
from headstart.text.subwords import train_tokenizer

pytestmark = pytest.mark.skipif(torch.backends.quantized.engine not in ("x86", "fbgemm"), reason="no int8 product here")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A classifier that is sure of itself, and rows whose labels are its own answers, but for the first."""
    torch.manual_seed(0)
    texts = [" ".join(f"mot{(i * j) % 23}" for j in range(1, 12)) for i in range(40)]
    tokenizer = train_tokenizer(texts, 300)
    shape = Shape(vocabulary=tokenizer.size, width=32, depth=2, heads=2, hidden=48, context=64)
    card = Card(task="classify", shape=shape, labels=("a", "b"))
    model = card.build()
    initialise(model)
    assert isinstance(model, Classifier)
    torch.nn.init.normal_(model.head.scores.weight)
    save(tmp_path / "run", model, card, tokenizer)
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    rows = list(read_rows(tmp_path / "texts.txt", labelled=False))
    labels = [prediction.label for prediction in predict_rows(tmp_path / "run", rows)]
    labels[0] = {"a": "b", "b": "a"}[labels[0]]
    (tmp_path / "labels.txt").write_text("".join(f"{label}\n" for label in labels), "utf-8")
    return tmp_path


def test_probabilities_move_little(run: Path) -> None:
    rows = list(read_rows(run / "texts.txt", labelled=False))
    exact, rough = (np.array([p.scores for p in predict_rows(run / "run", rows, int8=int8)]) for int8 in (False, True))
    assert 0 < abs(exact - rough).mean() < 0.03


def test_evaluate_shows_what_it_costs(run: Path) -> None:
    found = evaluate_file(run / "run", f"{run / 'texts.txt'}:{run / 'labels.txt'}", Reading(), int8=True)
    assert found.scores.accuracy == pytest.approx(39 / 40)
    assert found.int8 is not None
    assert abs(found.int8.accuracy - found.scores.accuracy) <= found.int8.changed / 40 + 1e-9


@pytest.mark.parametrize(("pooling", "turned"), [("last", 3 * 4 - 1), ("mean", 3 * 4)])
def test_only_the_layers_of_the_body_are_turned(pooling: Pooling, turned: int) -> None:
    """Read at one position, the last layer makes its keys and values in float32."""
    shape = Shape(vocabulary=50, width=8, heads=2, hidden=8, depth=3)
    model = Card(task="classify", shape=shape, labels=("a", "b"), pooling=pooling).build()
    assert isinstance(model, Classifier)
    to_int8(model)
    assert sum(isinstance(part, Int8Linear) for part in model.modules()) == turned
    assert model.eval()(torch.ones(2, 5, dtype=torch.long), torch.tensor([5, 2])).isfinite().all()
    assert isinstance(model.head.scores, torch.nn.Linear)

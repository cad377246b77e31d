"""The head swap says what it did."""

from pathlib import Path

import pytest
import torch
from model.shapes import model_of, small

from headstart.checkpoint import Card, load, save
from headstart.errors import CheckpointError
from headstart.model.body import Body
from headstart.model.models import Classifier
from headstart.train.transfer import all_fresh, carry_body


def test_the_ledger_accounts_for_every_tensor(tmp_path: Path) -> None:
    save(tmp_path / "best", model_of("lm"), Card(task="lm", shape=small()))
    saved = load(tmp_path)
    model = Classifier(Body(small(), causal=True), classes=3)
    ledger = carry_body(saved, model)
    ours, theirs = dict(model.named_parameters()), dict(saved.model.named_parameters())
    assert ledger.kept.keys() | ledger.fresh.keys() == ours.keys()
    assert ledger.kept.keys() | ledger.dropped.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ledger.kept)
    assert set(ledger.fresh) == {"head.scores.weight", "head.scores.bias"}
    assert set(ledger.dropped) == {"head.weight", "head.bias"}
    assert "2 tensors (39 parameters) fresh (head)" in ledger.sentence()
    assert all_fresh(model).sentence().startswith("From scratch")


def test_a_body_of_another_shape_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "best", model_of("lm"), Card(task="lm", shape=small()))
    for other in (small(width=24), small(depth=3), small(depth=1)):
        with pytest.raises(CheckpointError, match=r"does not fit this model|of this body is not in it"):
            carry_body(load(tmp_path), Classifier(Body(other, causal=True), classes=2))

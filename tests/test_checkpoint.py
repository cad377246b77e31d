"""Saved models: the same model back, or an error that names what is wrong."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from model.shapes import model_of, small
from safetensors.torch import load_file, save_file

from headstart.checkpoint import CARD, WEIGHTS, Card, load, save
from headstart.errors import CheckpointError
from headstart.model.models import Task
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer
from headstart.whole import write_whole


def saved(folder: Path, task: Task = "lm", **changes: Any) -> torch.nn.Module:
    model = model_of(task, **changes)
    labels = ("no", "yes") if task == "classify" else ()
    causal = task not in ("masked", "bert")
    card = Card(task=task, shape=small(**changes), causal=causal, labels=labels, step=7, scores={"loss": 1.5})
    save(folder, model, card)
    return model


def rewrite(folder: Path, change: dict[str, bytes]) -> None:
    """What a stranger could do who also renews the hashes."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"} | change

    def fill(new: Path) -> None:
        for name, content in files.items():
            (new / name).write_bytes(content)

    write_whole(folder, fill)


@pytest.mark.parametrize("task", ["lm", "classify", "masked", "bert", "translate"])
@pytest.mark.parametrize("tied", [True, False])
def test_the_same_model_comes_back(tmp_path: Path, task: Task, tied: bool) -> None:
    model = saved(tmp_path / "best", task, tied=tied)
    again = load(tmp_path)
    assert again.card.step == 7
    assert again.card.scores == {"loss": 1.5}
    for (name, one), (other_name, other) in zip(model.named_parameters(), again.model.named_parameters()):
        assert name == other_name
        assert torch.equal(one, other)
    if tied and task == "lm":
        assert again.model.get_parameter("head.weight") is again.model.get_parameter("body.embedding.weight")


def test_the_tokenizer_and_the_labels_travel(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(["the cat sat on the mat", "a dog and a cat"] * 20, 300)
    shape = small(vocabulary=tokenizer.size)
    card = Card(task="classify", shape=shape, labels=("négatif", "positif"), parent="abc")
    save(tmp_path / "best", model_of("classify", vocabulary=tokenizer.size), card, tokenizer)
    again = load(tmp_path)
    assert again.card.labels == ("négatif", "positif")
    assert again.tokenizer.hash == tokenizer.hash
    assert again.tokenizer.encode("the cat") == tokenizer.encode("the cat")


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    texts = ["the cat sat on the mat", "a dog and a cat"] * 20
    tokenizer, other = train_tokenizer(texts, 300), train_tokenizer(texts, 290)
    save(tmp_path / "best", model_of("lm"), Card(task="lm", shape=small()), tokenizer)

    def fill(new: Path) -> None:
        for name in (CARD, WEIGHTS):
            (new / name).write_bytes((tmp_path / "best" / name).read_bytes())
        other.save(new / "tokenizer")

    write_whole(tmp_path / "best", fill)
    with pytest.raises(CheckpointError, match="not the tokenizer that this model was trained with"):
        load(tmp_path)
    assert isinstance(other, Tokenizer)


def test_a_missing_run_is_an_error_and_never_a_random_start(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such run"):
        load(tmp_path / "typo")
    with pytest.raises(CheckpointError, match="holds no saved model"):
        load(tmp_path)


def test_tensors_are_loaded_strictly_by_name(tmp_path: Path) -> None:
    saved(tmp_path / "best")
    weights = load_file(tmp_path / "best" / WEIGHTS)
    cases: list[tuple[str, dict[str, torch.Tensor]]] = [
        ("'body.embedding.weight' is missing", {n: t for n, t in weights.items() if n != "body.embedding.weight"}),
        ("'body.oops' is not known", weights | {"body.oops": torch.zeros(0)}),
        ("'head.bias' is .25,.*needs .50,", weights | {"head.bias": torch.zeros(25)}),
        ("numbers, but the shape on its card needs", weights | {"head.bias": torch.zeros(10_000)}),
    ]
    for message, changed in cases:
        save_file(changed, tmp_path / "changed")
        rewrite(tmp_path / "best", {WEIGHTS: (tmp_path / "changed").read_bytes()})
        with pytest.raises(CheckpointError, match=message):
            load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": {"width": 10**9}},
        {"shape": {"context": 10**12}},
        {"shape": {"width": "wide"}},
        {"shape": 3},
        {"task": "cook"},
        {"surprise": 1},
        {"causal": False},
        {"labels": ["a"]},
        {"temperature": float("nan")},
    ],
    ids=str,
)
def test_a_card_that_lies_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    saved(tmp_path / "best")
    card = json.loads((tmp_path / "best" / CARD).read_text()) | change
    rewrite(tmp_path / "best", {CARD: json.dumps(card).encode()})
    with pytest.raises(CheckpointError, match=f"{CARD}|{WEIGHTS}"):
        load(tmp_path)


def test_a_truncated_weights_file_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "best")
    content = (tmp_path / "best" / WEIGHTS).read_bytes()
    rewrite(tmp_path / "best", {WEIGHTS: content[:-10]})
    with pytest.raises(CheckpointError, match=WEIGHTS):
        load(tmp_path)


def test_a_run_is_found_from_inside_and_beside_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "run" / "best")
    shutil.copytree(tmp_path / "run", tmp_path / "run.old")
    assert load(tmp_path / "run").card.step == 7
    monkeypatch.chdir(tmp_path / "run")
    assert load(Path()).card.step == 7
    monkeypatch.chdir(tmp_path / "run" / "best")
    assert load(Path("..")).card.step == 7
    (tmp_path / "file").write_text("x")
    with pytest.raises(CheckpointError, match="is a file"):
        load(tmp_path / "file")

"""Fine-tuning: labels by name, the best epoch, resume, freezing, and what cannot be done."""

import json
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import load
from headstart.errors import CheckpointError, DataError, DeadRunError, HeadstartError
from headstart.recipes.classify import finetune_files
from headstart.recipes.evaluate import evaluate_file
from headstart.recipes.finetune import Epoch
from headstart.recipes.labels import label_names, split_off
from headstart.recipes.predict import predict_rows, predict_stream
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running import training
from headstart.recipes.running.stopping import StopRule
from headstart.text.records import Reading, Row

GOOD, BAD = ["lovely", "bright", "warm"], ["awful", "dull", "cold"]
SMALL = ("finetune.epochs=4", "finetune.rate=3e-3", "finetune.scratch_rate=3e-3", "finetune.dropout=0.0")


def labelled(folder: Path, rows: int = 120, name: str = "train.tsv") -> str:
    draw = random.Random(name)
    lines = ["label\ttext"]
    for i in range(rows):
        label, words = ("good", GOOD) if i % 2 else ("bad", BAD)
        filling = draw.choices(["the", "cat", "saw", "a", "garden", "often"], k=draw.randint(2, 12))
        filling.insert(draw.randrange(len(filling)), draw.choice(words))
        lines.append(f"{label}\t{' '.join(filling)}")
    (folder / name).write_text("\n".join(lines) + "\n")
    return str(folder / name)


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("body")
    corpus = Path(small_corpus(folder))
    corpus.write_text(corpus.read_text() + "\n".join(f"the {word} garden" for word in GOOD + BAD for _ in range(20)))
    pretrain([str(corpus)], folder / "lm", settings=small_settings(), stop=StopRule(steps=30))
    return folder / "lm"


def test_it_learns_and_the_labels_keep_their_names(body: Path, tmp_path: Path) -> None:
    events: list[object] = []
    settings = small_settings(*SMALL, "finetune.epochs=10", "finetune.rows=4", "finetune.rate=1e-2")
    done = finetune_files(labelled(tmp_path), "", tmp_path / "clf", start=body, settings=settings, watch=events.append)
    assert [epoch.number for epoch in done.epochs] == list(range(1, 11))
    assert [event for event in events if isinstance(event, Epoch)] == list(done.epochs)
    assert set(done.ledger.fresh) == {"head.scores.weight", "head.scores.bias"}
    test = labelled(tmp_path, 60, "test.tsv")
    scores = evaluate_file(tmp_path / "clf", test, Reading()).scores
    assert scores.accuracy > 0.95
    found = predict_rows(tmp_path / "clf", [Row("a warm garden", "", 1), Row("", "", 2), Row("the dull cat", "", 3)])
    assert (found[0].label, found[2].label) == ("good", "bad")
    assert sum(found[1].scores) == pytest.approx(1.0)
    card = load(tmp_path / "clf").card
    assert card.labels == ("bad", "good")
    assert card.parent
    assert card.step in {int(line["step"]) for line in map(json.loads, (tmp_path / "clf" / "metrics.jsonl").open())}


def test_a_prediction_does_not_depend_on_its_neighbours(body: Path, tmp_path: Path) -> None:
    finetune_files(labelled(tmp_path), "", tmp_path / "clf", start=body, settings=small_settings(*SMALL))
    rows = [Row("the cat " * n + "lovely", "", n) for n in range(1, 40)]
    together = predict_rows(tmp_path / "clf", rows)
    alone = [predict_rows(tmp_path / "clf", [row])[0] for row in rows[::7]]
    for one, other in zip(alone, together[::7]):
        assert one.scores == pytest.approx(other.scores, abs=1e-5)
    unsure = [found for _, found in predict_stream(tmp_path / "clf", rows, abstain_below=1.1)]
    assert {found.label for found in unsure} == {""}


def test_resumed_it_ends_with_the_same_bytes(body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, settings = labelled(tmp_path), small_settings(*SMALL, "train.save_every=4")
    finetune_files(train, "", tmp_path / "whole", start=body, settings=settings)
    from headstart.train.loop import fit

    def stopping(*words: object, **named: object) -> object:
        for step in fit(*words, **named):  # type: ignore[arg-type]
            yield step
            if step.number in (5, 13):
                raise RuntimeError("the lights went out")

    monkeypatch.setattr(training, "fit", stopping)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="lights"):
            finetune_files(train, "", tmp_path / "run", start=body, settings=settings, resume=True)
    monkeypatch.undo()
    finetune_files(train, "", tmp_path / "run", start=body, settings=settings, resume=True)
    for name in ("best/model.safetensors", "last/model.safetensors", "last/moments.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_frozen_body_keeps_its_weights_and_a_thawing_one_moves(body: Path, tmp_path: Path) -> None:
    before = load_file(body / "best" / "model.safetensors")
    for freeze, moves in (("body", False), ("gradual", True)):
        settings = small_settings(*SMALL, f"finetune.freeze={freeze}")
        finetune_files(labelled(tmp_path), "", tmp_path / freeze, start=body, settings=settings)
        after = load_file(tmp_path / freeze / "best" / "model.safetensors")
        moved = {name for name in after if name in before and not torch.equal(after[name], before[name])}
        assert any(name.startswith("body.") for name in moved) == moves


def test_from_scratch_trains_its_own_tokenizer(tmp_path: Path) -> None:
    said: list[str] = []
    done = finetune_files(
        labelled(tmp_path), "", tmp_path / "clf", start=None, settings=small_settings(*SMALL), say=said.append
    )
    assert done.ledger.sentence().startswith("From scratch")
    assert any("No --tokenizer" in sentence for sentence in said)
    assert any("No --valid" in sentence for sentence in said)


def test_numbers_that_overflow_are_named(tmp_path: Path) -> None:
    settings = small_settings(*SMALL, "finetune.scratch_rate=1e30")
    with pytest.raises(DeadRunError, match=r"overflowed.*finetune\.scratch_rate"):
        finetune_files(labelled(tmp_path), "", tmp_path / "clf", start=None, settings=settings)


def test_what_cannot_be_done_changes_nothing(body: Path, tmp_path: Path) -> None:
    train, settings, out = labelled(tmp_path), small_settings(*SMALL), tmp_path / "clf"

    def refused(error: type[HeadstartError], message: str, **changed: object) -> None:
        words = {"train": train, "valid": "", "out": out, "start": body, "settings": settings} | changed
        with pytest.raises(error, match=message):
            finetune_files(**words)  # type: ignore[arg-type]
        assert not out.exists()

    refused(CheckpointError, "no such run", start=tmp_path / "typo")
    other = tmp_path / "other.tsv"
    other.write_text("label\ttext\ngood\ta cat\nugly\ta dog\n")
    refused(DataError, "label 'ugly' does not stand in the training data", valid=str(other))
    with pytest.raises(CheckpointError, match="without a class head"):
        predict_rows(body, [Row("a", "", 1)])


def test_a_part_is_held_out_of_each_class_and_copies_stay_together() -> None:
    rows = [Row(f"text {i // 2}", "x", i, label="ab"[i % 3 == 0]) for i in range(60)]
    kept, held = split_off(rows, 0.2)
    assert sorted(row.line for row in kept + held) == list(range(60))
    assert {row.label for row in held} == {"a", "b"}
    assert not {(row.text, row.label) for row in kept} & {(row.text, row.label) for row in held}
    assert label_names([Row("", "", 0, label=name) for name in ("10", "9", "2")]) == ("2", "9", "10")

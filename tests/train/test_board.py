"""TensorBoard shows the points of metrics.jsonl, each of them once."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from train.small_corpus import small_corpus, small_settings

from headstart.errors import ConfigError
from headstart.recipes.classify import finetune_files
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running import training
from headstart.recipes.running.stopping import StopRule
from headstart.train.board import Board
from headstart.train.loop import fit
from headstart.train.rows import TORN

Points = list[tuple[str, int, float]]
needs_tensorboard = pytest.mark.skipif(
    importlib.util.find_spec("tensorboard") is None, reason="needs pip install 'headstart[tensorboard]'"
)


def go(corpus: str, out: Path, **options: Any) -> None:
    pretrain([corpus], out, settings=small_settings("train.save_every=4"), stop=StopRule(steps=12), **options)


def shown(folder: Path) -> Points:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0}).Reload()
    return sorted((tag, e.step, e.value) for tag in events.Tags()["scalars"] for e in events.Scalars(tag))


def written(folder: Path) -> Points:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    groups = ["train" if "rate" in line else "evaluation" for line in lines]
    return sorted(
        (f"{group}/{name}", line["step"], value)
        for group, line in zip(groups, lines)
        for name, value in line.items()
        if name != "step"
    )


def assert_same(found: Points, wanted: Points) -> None:
    assert [point[:2] for point in found] == [point[:2] for point in wanted]
    assert [point[2] for point in found] == pytest.approx([point[2] for point in wanted], rel=1e-6)  # float32 there


@needs_tensorboard
@pytest.mark.parametrize("at_first", [True, False])
def test_a_run_resumed_twice_shows_each_point_once(
    at_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, run = small_corpus(tmp_path), tmp_path / "run"

    def stopping(*words: object, **named: object) -> object:
        for step in fit(*words, **named):  # type: ignore[arg-type]
            yield step
            if step.number in (6, 11):
                error = RuntimeError("the lights went out")
                error.add_note(TORN)  # nothing can be saved: the last save is two or three steps back
                raise error

    monkeypatch.setattr(training, "fit", stopping)
    for tensorboard in (at_first, True):
        with pytest.raises(RuntimeError, match="lights"):
            go(corpus, run, resume=True, tensorboard=tensorboard)
    monkeypatch.undo()
    go(corpus, run, resume=True, tensorboard=True)
    assert {step for _, step, _ in shown(run)} == set(range(1, 13))
    assert_same(shown(run), written(run))


@needs_tensorboard
def test_it_is_flushed_with_each_event_and_changes_no_weight(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    seen: list[int] = []
    go(corpus, tmp_path / "one", tensorboard=True, watch=lambda event: seen.append(len(shown(tmp_path / "one"))))
    go(corpus, tmp_path / "two")
    assert seen[:3] == [4, 8, 12]  # loss, rate, norm and tokens of each step
    name = "last/model.safetensors"
    assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert not (tmp_path / "two" / "tensorboard").exists()


@needs_tensorboard
def test_fine_tuning_shows_its_epochs(tmp_path: Path) -> None:
    rows = "".join(f"{'good' if i % 2 else 'bad'}\t{'warm' if i % 2 else 'cold'} garden {i}\n" for i in range(40))
    (tmp_path / "train.tsv").write_text(f"label\ttext\n{rows}")
    settings, out = small_settings("finetune.epochs=2"), tmp_path / "clf"
    finetune_files(str(tmp_path / "train.tsv"), "", out, start=None, settings=settings, tensorboard=True)
    assert_same(shown(out), written(out))
    assert len([tag for tag, _, _ in shown(out) if tag == "evaluation/accuracy"]) == 2


@needs_tensorboard
def test_a_number_that_is_none_is_left_out(tmp_path: Path) -> None:
    Board(tmp_path / "tensorboard", [{"step": 1, "loss": None, "rate": 0.5}]).write({"step": 2, "loss": 2.0, "rate": 1})
    assert shown(tmp_path) == [("train/loss", 2, 2.0), ("train/rate", 1, 0.5), ("train/rate", 2, 1.0)]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    corpus = small_corpus(tmp_path)
    with pytest.raises(ConfigError, match=r"pip install 'headstart\[tensorboard\]'"):
        go(corpus, tmp_path / "run", tensorboard=True)
    assert not (tmp_path / "run").exists()

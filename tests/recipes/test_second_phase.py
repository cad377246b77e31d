"""A second phase: the weights of a run go on with other text, and what does not fit is refused."""

import tomllib
from pathlib import Path

import pytest
from safetensors.torch import load_file
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import Card, load, save
from headstart.errors import CheckpointError, HeadstartError, RunError
from headstart.recipes.comparing.courses import pretraining_cost
from headstart.recipes.comparing.leaks import pretraining_text
from headstart.recipes.pretrain import Pretrained, pretrain
from headstart.recipes.running.stopping import StopRule
from headstart.text.records import Reading
from headstart.text.subwords import train_tokenizer
from headstart.whole import MANIFEST, sha256


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    return small_corpus(tmp_path_factory.mktemp("second"))


@pytest.fixture(scope="module")
def first(corpus: str) -> Path:
    run = Path(corpus).with_name("first")
    pretrain([corpus], run, settings=small_settings(), stop=StopRule(steps=10), objective="masked")
    return run


@pytest.fixture(scope="module")
def other(corpus: str) -> str:
    lines = Path(corpus).read_text().splitlines()
    file = Path(corpus).with_name("other.txt")
    file.write_text("\n".join(" ".join(reversed(line.split())) for line in lines[:150]) + "\n")
    return str(file)


def go_on(other: str, out: Path, first: Path, *overrides: str, **changed: object) -> Pretrained:
    options = {"stop": StopRule(steps=6), "start": first, **changed}
    return pretrain([other], out, settings=small_settings(*overrides), **options)  # type: ignore[arg-type]


def test_it_starts_from_the_weights_and_names_its_parent(first: Path, other: str, tmp_path: Path) -> None:
    shape = ("model.width=64", "model.depth=3")  # the run's own shape counts, not what a preset says
    done = go_on(other, tmp_path / "run", first, "train.rate=1e-12", *shape)
    before = load_file(first / "best" / "model.safetensors")
    after = load_file(tmp_path / "run" / "best" / "model.safetensors")
    assert before.keys() == after.keys() == done.ledger.kept.keys()
    for name in before:
        assert (before[name] - after[name]).abs().max() < 1e-8
    card = load(tmp_path / "run").card
    assert done.objective == card.task == "masked"
    assert card.parent == sha256(first / "best" / MANIFEST)
    assert tomllib.loads((tmp_path / "run" / "run.toml").read_text())["run"]["from"] == card.parent
    assert card.tokenizer == load(first).card.tokenizer
    assert card.corpus != load(first).card.corpus
    assert "none fresh" in done.ledger.sentence()
    cost = pretraining_cost(tmp_path / "run")
    assert cost is not None
    assert cost["step"] == 10 + 6, "a comparison counts what both phases cost"


def test_resumed_it_ends_with_the_same_bytes(first: Path, other: str, tmp_path: Path) -> None:
    go_on(other, tmp_path / "whole", first)

    def lights_out(event: object) -> None:
        if getattr(event, "number", 0) == 3:
            raise RuntimeError("the lights went out")

    with pytest.raises(RuntimeError, match="lights"):
        go_on(other, tmp_path / "run", first, watch=lights_out)
    go_on(other, tmp_path / "run", first, resume=True)
    for name in ("model.safetensors", "moments.safetensors"):
        assert (tmp_path / "run" / "last" / name).read_bytes() == (tmp_path / "whole" / "last" / name).read_bytes()
    with pytest.raises(RunError, match=r"run\.from is another"):
        go_on(other, tmp_path / "run", tmp_path / "whole", resume=True)


def test_the_leak_guard_reads_the_text_of_both_phases(first: Path, corpus: str, other: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(other, run, first)
    read = {*Path(corpus).read_text().splitlines(), *Path(other).read_text().splitlines()}
    saved = load(run)
    documents, searched = pretraining_text(run, (), Reading(), saved.tokenizer, saved.card.corpus)
    assert documents is not None
    assert {document.text for document in documents} == read
    assert str(first.resolve() / "tokens") in searched


def test_what_does_not_fit_is_refused_and_nothing_is_written(first: Path, other: str, tmp_path: Path) -> None:
    foreign = train_tokenizer(["another text altogether " * 20, "with other pieces"], 300)
    foreign.save(tmp_path / "tokenizer")
    out = tmp_path / "run"

    def refused(error: type[HeadstartError], message: str, **changed: object) -> None:
        with pytest.raises(error, match=message):
            go_on(other, **{"out": out, "first": first, **changed})  # type: ignore[arg-type]
        assert not out.exists()

    refused(CheckpointError, "pretrained as masked and cannot go on as causal.*Leave --objective", objective="causal")
    refused(CheckpointError, "another tokenizer.*Leave --tokenizer out", tokenizer=tmp_path / "tokenizer")
    refused(CheckpointError, "no such run", first=tmp_path / "typo")
    classifier = Card(task="classify", shape=load(first).card.shape, causal=False, labels=("a", "b"))
    save(tmp_path / "clf", classifier.build(), classifier)
    refused(CheckpointError, "classify model cannot go on pretraining", first=tmp_path / "clf")
    with pytest.raises(RunError, match="another --out"):
        go_on(other, first, first, force=True)
    assert load(first).card.task == "masked"

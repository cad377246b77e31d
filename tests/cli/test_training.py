"""What the commands about models are asked for reaches the recipe, or is refused with what to type."""

from pathlib import Path
from typing import Any

import pytest
from model.shapes import model_of, small
from recipes.planted import tokenizer
from typer.testing import CliRunner

from headstart.checkpoint import Card, save
from headstart.cli import app
from headstart.errors import ConfigError
from headstart.recipes import classify

runner = CliRunner()


def refusal(*words: str) -> str:
    """What is said of words that cannot be obeyed."""
    done = runner.invoke(app, words)
    assert isinstance(done.exception, ConfigError), done.output
    return str(done.exception)


def test_words_are_not_hidden_from_a_causal_model(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a text\nanother text\n")
    card = Card(task="lm", shape=small(vocabulary=tokenizer().size))
    save(tmp_path / "lm" / "best", model_of("lm", vocabulary=tokenizer().size), card, tokenizer())
    words = ("pretrain", str(tmp_path / "corpus.txt"), "--out", str(tmp_path / "run"), "--whole-words", "--steps", "1")
    assert "add --objective masked or bert, or leave it out" in refusal(*words)
    assert "hides no words" in refusal(*words, "--objective", "causal")
    assert "goes on as it was pretrained, or leave it out" in refusal(*words, "--from", str(tmp_path / "lm"))
    assert not (tmp_path / "run").exists()


def test_a_classifier_is_not_put_beside_a_translator(tmp_path: Path) -> None:
    card = Card(task="classify", shape=small(vocabulary=tokenizer().size), labels=("no", "yes"))
    save(tmp_path / "clf" / "best", card.build(), card, tokenizer())
    asked = ("evaluate", str(tmp_path / "clf"), "rows.csv")
    assert "--against: only for translators" in refusal(*asked, "--against", str(tmp_path / "mt"))
    assert "--beam, --lowercase: only for translators" in refusal(*asked, "--beam", "4", "--lowercase")


def test_whoever_stops_a_command_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("headstart.checkpoint.find", stop)
    done = runner.invoke(app, ["evaluate", str(tmp_path), "rows.csv"])
    assert (done.exit_code, done.stderr) == (130, "error: stopped\n")
    monkeypatch.setattr("headstart.recipes.translator.translator", stop)
    pairs = ("a.tsv", "--valid", "b.tsv", "--out", str(tmp_path / "mt"))
    done = runner.invoke(app, ["translator", *pairs])
    assert done.exit_code == 130
    assert "Go on with the same command and --resume" in done.stderr


def test_finetune_asks_where_a_text_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def remembered(*given: Any, settings: Any, **more: Any) -> None:
        asked.append(settings.finetune.pooling)
        raise ConfigError("enough")

    monkeypatch.setattr(classify, "finetune_files", remembered)
    for pooling in ([], ["--pooling", "first"]):
        assert refusal("finetune", "t.csv", "--from", "scratch", "--out", str(tmp_path / "clf"), *pooling) == "enough"
    assert asked == ["auto", "first"]


@pytest.mark.parametrize("command", ["pretrain", "translator", "finetune", "compare", "shootout", "generate", "demo"])
def test_a_seed_that_is_none_is_refused_at_once(command: str) -> None:
    for seed in ("-1", str(2**64)):
        done = runner.invoke(app, [command, "--seed", seed])
        assert done.exit_code == 2
        assert "Invalid value for '--seed'" in done.output


def test_the_translators_demo_takes_its_own_options(tmp_path: Path) -> None:
    words = ("demo", "--translate", "--out", str(tmp_path / "demo"))
    assert "--jobs, --seeds: --translate trains one model" in refusal(*words, "--seeds", "9", "--jobs", "2")
    assert runner.invoke(app, [*words, "--minutes", "-1"]).exit_code == 2
    assert not (tmp_path / "demo").exists()


def test_a_body_brings_its_shape_to_a_translator(tmp_path: Path) -> None:
    words = ("translator", "a.en:a.fr", "--valid", "b.en:b.fr", "--out", str(tmp_path / "mt"))
    asked = refusal(*words, "--from", "runs/lm", "--set", "model.width=64", "--set", "model.dropout=0.1")
    assert asked.endswith("leave out --set model.width=64")
    both = refusal(*words, "--separate", "--set", "translator.vocabularies=joint")
    assert "need translator.vocabularies=separate" in both

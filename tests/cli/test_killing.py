"""check resume: a killed run is compared with a whole one, and a difference is not overlooked."""

import json
from pathlib import Path
from typing import Any

import pytest
from recipes.small_pairs import small_pairs
from train.small_corpus import small_corpus
from typer.testing import CliRunner

from headstart.cli import app
from headstart.errors import ConfigError, RunError
from headstart.recipes import check_resume

runner = CliRunner()
SMALL = ["vocabulary=330", "width=16", "depth=1", "heads=2", "hidden=32", "positions=rotary"]
FEW = ["--steps", "8", *(word for each in SMALL for word in ("--set", f"model.{each}"))]
FILES = ["last/model.safetensors", "last/moments.safetensors", "best/model.safetensors", "best/card.json"]


def test_a_killed_translator_ends_with_the_same_bytes_and_bleu(tmp_path: Path) -> None:
    train, valid = small_pairs(tmp_path, "train", 300, 0), small_pairs(tmp_path, "valid", 30, 1)
    words = ["check", "resume", "--pairs", train, "--valid", valid, *FEW, "--set", "translator.tokens=256"]
    done = runner.invoke(app, [*words, "--kills", "1", "--json"])
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["holds"]
    assert list(found["whole"]) == list(found["resumed"]) == FILES
    assert "bleu" in found["scores"]


def test_a_difference_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run that learns from another seed stands for a resume that goes wrong."""
    real = check_resume._run

    def differing(words: list[str], out: Path) -> None:
        real([*words, "--seed", "1"] if out.name == "resumed" else words, out)

    monkeypatch.setattr(check_resume, "_run", differing)
    monkeypatch.setattr(check_resume, "_kill_at", lambda *given: None)
    corpus = small_corpus(tmp_path)
    done = runner.invoke(app, ["check", "resume", "--corpus", corpus, *FEW, "--set", "data.rows=4"])
    assert done.exit_code == 1
    assert "FAILS" in done.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--pairs", "a:b"], "needs both"),
        (["--valid", "a:b"], "needs both"),
        (["--pairs", "a:b", "--valid", "a:b", "--objective", "bert"], "leave --corpus and --objective out"),
        (["--kills", "0"], "never killed"),
        (["--steps", "3"], "too few"),
    ],
)
def test_what_proves_nothing_is_refused(words: list[str], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*given: Any) -> None:
        raise AssertionError("nothing should be trained")

    monkeypatch.setattr(check_resume, "_run", never)
    done = runner.invoke(app, ["check", "resume", *words])
    assert isinstance(done.exception, (ConfigError, RunError))
    assert why in str(done.exception)

"""`headstart shootout` from files to report, with real if tiny models."""

import json
from pathlib import Path

import pytest
from recipes.pretend import reviews, write_rows
from typer.testing import CliRunner

from headstart.cli import app
from headstart.errors import ConfigError

runner = CliRunner()
SMALL = [
    "model.vocabulary=300", "model.width=8", "model.depth=1", "model.heads=2", "model.hidden=16", "model.context=32",
    "data.rows=4", "data.length=16", "data.holdout=0.1",
]  # fmt: skip


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A small command."""
    (tmp_path / "corpus.txt").write_text("\n".join(row["text"] for row in reviews(120, 5)), "utf-8")
    parts = {name: write_rows(tmp_path / f"{name}.jsonl", reviews(30, i)) for i, name in enumerate(("a", "b", "c"))}
    changes = [word for change in SMALL for word in ("--set", change)]
    return [
        *("shootout", str(tmp_path / "corpus.txt"), "--train", parts["a"], "--valid", parts["b"], "--test", parts["c"]),
        *("--minutes", "0.001", "--objectives", "causal,bert", "--seeds", "1", "--epochs", "1", "--device", "cpu"),
        *(*changes, "--out", str(tmp_path / "so")),
    ]


def test_a_shootout_from_files_to_report(words: list[str], tmp_path: Path) -> None:
    done = runner.invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert "Verdict: " in done.stdout
    assert "bits per byte" in done.stdout
    assert f"headstart predict {tmp_path / 'so' / 'arms'}" in done.stdout
    assert "1 of 5: causal-seed-0: validation accuracy" in done.stderr
    assert (tmp_path / "so" / "report.html").read_text("utf-8").startswith("<!doctype html>")
    found = json.loads(runner.invoke(app, [*words, "--resume", "--json"]).stdout)
    assert found["report"] == str(tmp_path / "so" / "report.html")
    assert found["objectives"] == ["causal", "bert"]


def test_an_unknown_objective_is_named(words: list[str], tmp_path: Path) -> None:
    done = runner.invoke(app, [*words, "--objectives", "causal,electra"])
    assert isinstance(done.exception, ConfigError)
    assert "'electra'" in str(done.exception)
    assert not (tmp_path / "so").exists()

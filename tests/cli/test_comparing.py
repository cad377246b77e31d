"""`headstart compare` from files to report, with real if tiny models."""

import json
from pathlib import Path

import pytest
from recipes.pretend import request, reviews, write_rows
from typer.testing import CliRunner

from headstart.cli import app
from headstart.errors import ConfigError

runner = CliRunner()


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A small command; the last two words are the folder."""
    asked = request(tmp_path)
    small = {name: write_rows(tmp_path / f"{name}.csv.jsonl", reviews(40, seed)) for seed, name in enumerate("abc")}
    return [
        *("compare", small["a"], "--from", str(asked.run), "--valid", small["b"], "--test", small["c"]),
        *("--seeds", "2", "--epochs", "1", "--label-counts", "10", "--device", "cpu", "--out", str(tmp_path / "cmp")),
    ]


def test_a_comparison_from_files_to_report(words: list[str], tmp_path: Path) -> None:
    done = runner.invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert "Verdict: " in done.stdout
    assert "TF-IDF words + characters" in done.stdout
    assert f"headstart predict {tmp_path / 'cmp' / 'arms' / 'pretrained-seed-'}" in done.stdout
    assert "1 of 15: pretrained-seed-0: validation accuracy" in done.stderr
    assert (tmp_path / "cmp" / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "cmp" / "arms" / "pretrained-seed-1" / "best").is_dir()
    assert not (tmp_path / "cmp" / "arms" / "pretrained-10-labels-seed-1" / "best").exists()
    again = runner.invoke(app, [*words, "--resume", "--json"])
    found = json.loads(again.stdout)
    assert found["report"] == str(tmp_path / "cmp" / "report.html")
    assert found["systems"][0]["accuracy"]["value"] == pytest.approx(0.5, abs=0.5)


@pytest.mark.parametrize(
    ("more", "advice"),
    [
        (["--set", "model.width=9"], "both models have the shape"),
        (["--label-counts", "10;20"], "50,200,800"),
        (["--seeds", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_compared_is_said(words: list[str], more: list[str], advice: str, tmp_path: Path) -> None:
    done = runner.invoke(app, [*words, *more])
    assert isinstance(done.exception, ConfigError)
    assert advice in str(done.exception)
    assert not (tmp_path / "cmp").exists()

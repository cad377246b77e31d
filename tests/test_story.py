"""The whole story as a user types it: raw text and a few labels in, a report out."""

import csv
import json
from pathlib import Path

import pytest
from recipes.pretend import reviews
from typer.testing import CliRunner, Result

from headstart.cli import app

SMALL = ["model.vocabulary=400", "model.width=16", "model.depth=1", "model.hidden=32", "data.length=32"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user stands: texts without labels, and three tables with them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text("".join(f"{row['text']}\n" for row in reviews(600, 7)), "utf-8")
    for name, rows in {"train": reviews(80, 1), "valid": reviews(60, 2), "test": reviews(60, 3)}.items():
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, ["text", "label"])
            table.writeheader()
            table.writerows(rows)
    return tmp_path


def type_in(line: str, *more: str, given: str | None = None) -> Result:
    done = CliRunner().invoke(app, [*line.split()[1:], *more], input=given)
    assert done.exit_code == 0, (line, done.output, done.exception)
    return done


def test_from_raw_text_to_a_report(folder: Path) -> None:
    type_in("headstart check data --corpus corpus.txt --train train.csv --valid valid.csv --test test.csv")
    type_in("headstart tokenizer corpus.txt --vocabulary 400 --out tokenizer")
    sets = [word for setting in SMALL for word in ("--set", setting)]
    said = type_in("headstart pretrain corpus.txt --tokenizer tokenizer --steps 30 --out runs/lm", *sets)
    assert "bits per byte" in said.stdout
    assert "headstart finetune TRAIN --from runs/lm" in said.stdout
    again = type_in("headstart pretrain corpus.txt --tokenizer tokenizer --steps 30 --out runs/lm --resume", *sets)
    assert "goes on after step 30 of 30" in again.stderr
    assert type_in("headstart generate runs/lm superbe --tokens 5").stdout.startswith("superbe")

    said = type_in("headstart finetune train.csv --from runs/lm --valid valid.csv --epochs 2 --out runs/clf")
    assert "kept" in said.stdout
    said = type_in("headstart evaluate runs/clf test.csv --device cpu")
    assert "60 texts: accuracy" in said.stdout
    assert "Next: headstart predict runs/clf FILE" in said.stdout
    line = json.loads(type_in("headstart predict runs/clf --device cpu", given="un livre superbe\n").stdout)
    assert line["label"] in ("good", "bad")
    type_in("headstart check model runs/clf")

    compared = "headstart compare train.csv --from runs/lm --valid valid.csv --test test.csv --out runs/cmp"
    said = type_in(compared, "--seeds", "2", "--epochs", "2", "--label-counts", "20", "--encoding", "utf-8")
    assert "Verdict: " in said.stdout
    assert (folder / "runs/cmp/report.html").is_file()
    scores = json.loads((folder / "runs/cmp/scores.json").read_text("utf-8"))
    assert {system["name"] for system in scores["systems"]} >= {"pretrained", "scratch", "words"}

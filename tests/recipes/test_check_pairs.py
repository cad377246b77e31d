"""Pairs that stand twice are found on either side; odd ones are counted."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headstart.cli import app
from headstart.errors import DataError
from headstart.recipes.check_pairs import check_pairs
from headstart.text.records import Reading

TRAIN = [("A man walks.", "Ein Mann geht."), ("Two dogs.", "Zwei Hunde."), ("two  dogs.", "Zwei Hunde.")]
TRAIN += [("", "Nichts."), ("Hello", "Hello"), ("No", "Eine sehr lange Antwort")]
TEST = [("Two dogs.", "Zwei Hunde."), ("A man walks.", "Ein Mann läuft."), ("Something new.", "Ein Mann geht.")]


def files(folder: Path) -> dict[str, str]:
    table = folder / "train.tsv"
    table.write_text("source\ttarget\n" + "".join(f"{a}\t{b}\n" for a, b in TRAIN), "utf-8")
    for name, side in (("test.en.gz", 0), ("test.de.gz", 1)):
        with gzip.open(folder / name, "wt", encoding="utf-8") as file:
            file.writelines(f"{pair[side]}\n" for pair in TEST)
    return {"train": str(table), "valid": "", "test": f"{folder / 'test.en.gz'}:{folder / 'test.de.gz'}"}


def test_train_sentences_in_test_are_found_on_each_side(tmp_path: Path) -> None:
    found = check_pairs(files(tmp_path), Reading())
    assert {side: report.overlaps["train-test"]["exact"] for side, report in found.sides.items()} == {
        "source": 2, "target": 2, "pair": 1,
    }  # fmt: skip
    assert found.parts["train"] == {"pairs": 6, "empty": 1, "uneven": 1, "copied": 1}
    assert found.warnings[0] == "2 of 3 test sources also stand in train"
    assert "1 of 6 train pairs repeat an earlier one" in found.warnings


def test_the_command_tells_it(tmp_path: Path) -> None:
    given = files(tmp_path)
    words = ["check", "data", "--pairs", "--train", given["train"], "--test", given["test"]]
    shown, counted = CliRunner().invoke(app, words), CliRunner().invoke(app, [*words, "--json"])
    assert "1 of 3 test pairs also stand in train on both sides" in shown.stdout
    assert json.loads(counted.stdout)["sides"]["pair"]["overlaps"]["train-test"]["exact"] == 1


def test_nothing_and_a_pipe_are_refused() -> None:
    with pytest.raises(DataError, match="nothing to check"):
        check_pairs({"train": ""}, Reading())
    with pytest.raises(DataError, match="several times"):
        check_pairs({"train": "-:-"}, Reading())


def test_a_header_that_is_read_as_a_pair_is_told(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("en\tfr\nthe cat\tle chat\n")
    found = check_pairs({"train": str(table)}, Reading())
    assert found.parts["train"]["pairs"] == 2
    assert "its first pair being 'en' and 'fr'" in found.notes[0]
    assert not check_pairs({"train": str(table)}, Reading(source_column="en", target_column="fr")).notes

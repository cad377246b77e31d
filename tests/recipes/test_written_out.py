"""Numbers and dates in words: as num2words writes them, and no value in two parts."""

import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.recipes.demos import written_out
from headstart.recipes.demos.written_out import FIRST_DAY, NUMBERS, by_hash, english, french, number, write_values

num2words = pytest.importorskip("num2words").num2words
pytest.importorskip("babel")


@settings(max_examples=60)
@given(st.integers(0, NUMBERS - 1))
def test_numbers_are_those_of_num2words(value: int) -> None:
    assert number(value, "en") == num2words(value, lang="en")
    assert number(value, "fr") == num2words(value, lang="fr")


@pytest.mark.parametrize("value", [0, 1_000, 1_001, 80_000, 80_080, 200_000, 200_200, 999_999])
def test_french_plurals_are_those_of_num2words(value: int) -> None:
    assert number(value, "fr") == num2words(value, lang="fr")


def test_a_date_in_both_languages() -> None:
    day = (datetime.date(1999, 12, 31) - FIRST_DAY).days
    assert english("date", day) == "Friday, December thirty-first, nineteen ninety-nine"
    assert french("date", day) == "vendredi trente et un décembre mille neuf cent quatre-vingt-dix-neuf"
    assert french("date", 0) == "lundi premier janvier mille neuf cents"


def test_values_are_held_out_by_their_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, count in (("TEST", 20), ("VALID", 5), ("TRAIN", 100), ("SMALL", 30)):
        monkeypatch.setattr(written_out, name, count)
    data = write_values(tmp_path)
    assert data.pairs["test"] == 40
    sources = [
        {line.split("\t")[0] for line in path.read_text("utf-8").splitlines()[1:]}
        for path in (data.train, data.valid, data.test)
    ]
    assert sum(map(len, sources)) == len(set.union(*sources)) == sum(data.pairs.values())
    assert sorted(by_hash(1_000, "date")) == list(range(1_000))
    assert by_hash(1_000, "date") != by_hash(1_000, "number")

"""From files to a tokenizer folder and a report."""

import random
from pathlib import Path

import pytest

from headstart.errors import DataError, TokenizerError
from headstart.recipes.tokenizer import open_corpus, train
from headstart.text.pieces.report import report
from headstart.text.readers import Corpus
from headstart.text.records import Document
from headstart.text.tokenizer import Tokenizer


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    chance = random.Random(0)
    words = ["karo", "mitu", "lésa", "novi", "pedu", "gaxo"]
    lines = [" ".join(chance.choices(words, k=20)) for _ in range(100)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_from_files_to_a_folder(corpus: Path, tmp_path: Path) -> None:
    read: list[int] = []
    opened = open_corpus([corpus], tmp_path / "out", vocabulary=1000)
    found = train(opened, tmp_path / "out", vocabulary=1000, advance=read.append)
    tokenizer = Tokenizer.load(tmp_path / "out")
    assert found.hash == tokenizer.hash
    assert found.texts == 100
    assert sum(read) == opened.bytes
    assert any("1,000 asked for" in note for note in found.notes)
    assert found.report.vocabulary == tokenizer.size
    assert 3 < found.report.characters_per_token <= 5.1
    assert found.report.bytes_per_token > found.report.characters_per_token
    assert "▁karo" in found.report.longest


def test_an_occupied_folder_is_refused_before_reading(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter").write_text("dear")
    with pytest.raises(TokenizerError, match="already exists"):
        open_corpus([tmp_path / "nowhere.txt"], tmp_path / "out", vocabulary=1000)
    with pytest.raises(TokenizerError, match="already exists"):
        train(Corpus([corpus]), tmp_path / "out", vocabulary=1000)
    with pytest.raises(TokenizerError, match="too small"):
        open_corpus([tmp_path / "nowhere.txt"], tmp_path / "new", vocabulary=100)


def test_a_bad_corpus_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9\n" * 10)
    with pytest.raises(DataError, match=r"bad\.txt"):
        train(Corpus([tmp_path / "bad.txt"]), tmp_path / "out", vocabulary=1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt"]


def test_report_counts(corpus: Path, tmp_path: Path) -> None:
    train(Corpus([corpus]), tmp_path / "out", vocabulary=400)
    tokenizer = Tokenizer.load(tmp_path / "out")
    found = report(tokenizer, ["karo 日", Document("karo", "x.txt", 1)])
    assert (found.texts, found.characters, found.bytes, found.tokens) == (2, 10, 12, 6)
    assert (found.unknown, found.unknown_rate) == (0, 0.0)
    assert found.byte_rate == 3 / 6
    assert found.never_used == tokenizer.size - 7 - 256 - 2
    assert report(tokenizer, []).characters_per_token == 0.0

"""Translating lines: as many out as in, in order, whatever they hold; and what is said of a translator."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recipes.small_pairs import small_pairs, small_translator
from sacrebleu import corpus_bleu
from typer.testing import CliRunner

from headstart.checkpoint import load
from headstart.cli import app
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.generate.parting import part
from headstart.recipes.drawing.alignment import align
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.translate import Interpreter, Translated, translate_blocks
from headstart.recipes.translator import translator
from headstart.text.reading.arriving import read_arriving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translate")
    pairs = small_pairs(folder, "train", 200, 0), small_pairs(folder, "valid", 20, 1)
    settings = small_translator("translator.longest=16", "train.rate=1e-2")
    translator(*pairs, folder / "run", settings=settings, stop=StopRule(steps=20))
    return folder


@pytest.fixture(scope="module")
def interpreter(folder: Path) -> Interpreter:
    return Interpreter(load(folder / "run"), beam=2)


def test_order_and_empty_lines_are_kept(interpreter: Interpreter) -> None:
    lines = ["the old cat", "", "a", "   ", "dog saw a bird and the rain", "\t", "the old cat"]
    together = interpreter.translate(lines)
    assert [found.line for found in together] == [1, 2, 3, 4, 5, 6, 7]
    assert [found.source for found in together] == lines
    assert [bool(found.text) for found in together if not found.source.strip()] == [False] * 3
    alone = [interpreter.translate([line])[0].text for line in lines]
    assert [found.text for found in together] == alone
    blocks = [["the old cat"], lines[1:4], lines[4:]]
    assert [found.text for found in translate_blocks(interpreter, blocks, "line")] == alone


def test_a_long_line_is_split_or_refused_with_its_number(folder: Path, interpreter: Interpreter) -> None:
    lines = ["a cat", "the old cat saw a bird. " * 6]
    long = interpreter.translate(lines)[1]
    parts = part(lines[1], lambda text: len(interpreter.source.encode(text)) <= interpreter.room)
    assert long.parts == len(parts) > 1
    assert long.text == " ".join(found.text for found in interpreter.translate(parts)).strip()
    strict = Interpreter(load(folder / "run"), beam=1, long="refuse")
    given: list[Translated] = []
    with pytest.raises(DataError, match=r"text lines 2, 4: more than the 15 tokens that this translator reads"):
        given.extend(translate_blocks(strict, [[*lines, "a dog", lines[1]]], "text line"))
    assert [found.source for found in given] == ["a cat"], "what stands before is not lost"


@given(st.text(alphabet="ab .!?\n猫。", max_size=60), st.integers(1, 10))
def test_parts_fit_and_nothing_but_space_is_lost(text: str, room: int) -> None:
    parts = part(text, lambda each: len(each) <= room)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(each) <= room and each in text for each in parts)  # so nothing is put in either


@given(st.lists(st.text(alphabet="aé\r \t", max_size=5)), st.integers(1, 7))
def test_lines_arrive_whole_however_the_pipe_cuts_them(lines: list[str], size: int) -> None:
    class Pipe(io.BytesIO):
        def read1(self, count: int | None = -1, /) -> bytes:
            return self.read(size)

    content = "".join(f"{line}\n" for line in lines)
    found = [line for block in read_arriving(Pipe(content.encode())) for line in block]
    assert found == [line.removesuffix("\r") for line in lines]
    assert all(read_arriving(Pipe(content.encode())))


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    given: list[list[str]] = []
    with pytest.raises(DataError, match=r"stdin:3: not utf-8 .* iconv"):
        given.extend(read_arriving(io.BytesIO(b"one\ntwo\ncaf\xe9 cr\xe8me\nfour\n")))
    assert given == [["one", "two"]], "what stands before is not lost"
    with pytest.raises(DataError, match="stdin:2: a NUL byte"):
        list(read_arriving(io.BytesIO(b"one\ntw\0o\nthree\n")))
    with pytest.raises(DataError, match="stdin: not a text file: it looks like a gzip file"):
        list(read_arriving(io.BytesIO(gzip.compress(b"one"))))


def test_several_translations_come_with_their_scores(folder: Path) -> None:
    found = Interpreter(load(folder / "run"), beam=4, best=3).translate(["the old cat"])[0].found
    assert len(found) == 3
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    with pytest.raises(ConfigError, match="--best 5"):
        Interpreter(load(folder / "run"), beam=4, best=5)


def test_another_kind_of_model_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headstart.checkpoint import build
    from headstart.model.models import LanguageModel

    saved = load(folder / "run")
    other = build("lm", saved.card.shape)
    assert isinstance(other, LanguageModel)
    object.__setattr__(saved, "model", other)
    with pytest.raises(CheckpointError, match="does not translate"):
        Interpreter(saved)


def test_a_pipe_is_answered_before_it_ends(folder: Path) -> None:
    words = [sys.executable, "-m", "headstart", "translate", str(folder / "run"), "--beam", "1", "--json"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    for line in ("the cat", "", "a dog"):
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        answers.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert [(answer["line"], answer["source"]) for answer in answers] == [(1, "the cat"), (2, ""), (3, "a dog")]
    assert answers[1]["translation"] == ""


def test_evaluate_gives_the_scores_of_what_translate_writes(folder: Path) -> None:
    run, source, target = str(folder / "run"), folder / "valid.en", folder / "valid.fr"
    written = CliRunner().invoke(app, ["translate", run, str(source), "--beam", "2"])
    lines = written.stdout.splitlines()
    assert len(lines) == 20
    asked = ["evaluate", run, f"{source}:{target}", "--beam", "2", "--json", "--against", f"{run}/last"]
    found = json.loads(CliRunner().invoke(app, asked).stdout)
    references = target.read_text().splitlines()
    assert found["scores"]["bleu"]["value"] == pytest.approx(corpus_bleu(lines, [references]).score)
    assert found["scores"]["exact"] == sum(a == b for a, b in zip(lines, references)) / 20
    assert 0 < found["difference"]["bleu_p"] <= 1
    assert found["other_search"]["penalty"] == load(folder / "run" / "last").card.penalty
    refused = CliRunner().invoke(app, [*asked, "--int8"])
    assert isinstance(refused.exception, ConfigError)
    assert "--int8: only for classifiers" in str(refused.exception)


def test_the_alignment_has_a_row_for_each_word_written(folder: Path, tmp_path: Path) -> None:
    found = align(load(folder / "run"), "the old cat")
    assert found.weights.shape == (2, len(found.written), len(found.read))
    assert found.weights.sum(-1) == pytest.approx(1.0, abs=1e-5)
    assert (found.written[-1], found.read[-1]) == ("<eos>", "<eos>")
    for words in (["attention", str(folder / "run"), "the old cat"], ["mask", "--objective", "translate"]):
        done = CliRunner().invoke(app, ["draw", *words, "--out", str(tmp_path / "picture.svg")])
        assert done.exit_code == 0, done.output
        assert "<svg" in (tmp_path / "picture.svg").read_text()


def test_the_self_tests_hold(folder: Path) -> None:
    done = CliRunner().invoke(app, ["check", "model", str(folder / "run")])
    assert done.exit_code == 0, done.output

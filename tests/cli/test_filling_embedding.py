"""`headstart fill` and `headstart embed`, run as a user runs them."""

import json
from pathlib import Path

import numpy as np
import pytest
from recipes.planted import masked_run, sentences
from typer.testing import CliRunner

from headstart.cli import app, filling
from headstart.errors import ConfigError, DataError, RunError
from headstart.recipes.fill import Filled, Guess


def run(*words: str, stdin: str = "") -> str:
    result = CliRunner().invoke(app, list(words), input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def texts(tmp_path: Path) -> str:
    (tmp_path / "texts.txt").write_text("\n".join(sentences(40, seed=5)[0]) + "\n", "utf-8")
    return str(tmp_path / "texts.txt")


def test_fill_shows_words_with_probabilities() -> None:
    shown = run("fill", str(masked_run()), "fish boat <mask> duck <mask>.", "--top", "3").splitlines()
    assert shown[0] == "fish boat <mask> duck <mask>."
    assert [line.strip() for line in shown if line.startswith(" <mask>")] == ["<mask> 1", "<mask> 2"]
    assert len([line for line in shown if "%" in line]) == 6
    assert shown[-1].startswith("Likeliest: fish boat")


def test_fill_reads_a_file_or_a_pipe_and_writes_json_lines(tmp_path: Path) -> None:
    lines = "a <mask>\nthe <mask> bank <mask>\n"
    (tmp_path / "gaps.txt").write_text(lines, "utf-8")
    shown = run("fill", str(masked_run()), "--texts", str(tmp_path / "gaps.txt"), "--json")
    found = [json.loads(line) for line in shown.splitlines()]
    assert [(one["text"], len(one["gaps"])) for one in found] == [("a <mask>", 1), ("the <mask> bank <mask>", 2)]
    assert set(found[0]["gaps"][0][0]) == {"word", "probability", "attached"}
    assert shown == run("fill", str(masked_run()), "--texts", "-", "--json", stdin=lines)


def test_fill_reads_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "gaps.txt").write_bytes("le café <mask>\n".encode("windows-1252"))
    shown = run("fill", str(masked_run()), "--texts", str(tmp_path / "gaps.txt"), "--encoding", "windows-1252")
    assert shown.startswith("le café <mask>\n")


def test_a_piece_that_goes_on_with_a_word_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    guesses = (Guess("ne", 0.5, True), Guess("bon", 0.3, False), Guess("!", 0.1, True), Guess("", 0.05, False))
    assert filling._show([Filled("in<mask> \x1b[31m", (guesses,), "inne")])
    shown = capsys.readouterr().out
    assert [line.split()[-1] for line in shown.splitlines()[1:5]] == ["…ne", "bon", "!", "␣"]
    assert "\x1b" not in shown
    assert not filling._show([Filled("<mask>", (guesses[1:],), "bon")])


def test_fill_says_what_to_type() -> None:
    for words in ([], ["a <mask>", "--texts", "x.txt"]):
        with pytest.raises(ConfigError, match="give one TEXT"):
            run("fill", str(masked_run()), *words)
    assert 'headstart fill runs/masked "Ce livre est <mask>."' in run("fill", "--help")


def test_embed_writes_vectors_and_says_so(texts: str, tmp_path: Path) -> None:
    shown = run("embed", str(masked_run()), texts, "--out", str(tmp_path / "v.npy"))
    assert "40 vectors of 32 numbers, one for each text of 40 texts: the mean of their tokens." in shown
    assert f"Wrote {tmp_path / 'v.npy'}" in shown
    table = np.load(tmp_path / "v.npy")
    lines = [json.loads(line) for line in run("embed", str(masked_run()), texts).splitlines()]
    assert [line["number"] for line in lines] == list(range(40))
    assert (np.array([line["vector"] for line in lines], np.float32) == table).all()
    piped = run("embed", str(masked_run()), "-", stdin=Path(texts).read_text("utf-8"))
    assert [json.loads(line) for line in piped.splitlines()] == lines


def test_embed_words_with_a_list_beside(texts: str, tmp_path: Path) -> None:
    out = tmp_path / "w.npy"
    made = json.loads(run("embed", str(masked_run()), texts, "--of", "words", "--out", str(out), "--json"))
    assert (made["texts"], made["vectors"], made["pooling"]) == (40, 360, "mean")
    assert made["written"] == [str(tmp_path / "w.jsonl"), str(out)]
    assert len(np.load(out)) == len((tmp_path / "w.jsonl").read_text("utf-8").splitlines()) == 360


def test_embed_never_writes_over_what_it_reads(tmp_path: Path) -> None:
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text('{"text": "the bank"}\n')
    for given, out in ((reviews, "reviews.npy"), (reviews, "reviews.jsonl"), (tmp_path, "reviews.npy")):
        with pytest.raises(RunError, match=r"reviews\.jsonl: the texts are read from it.*reviews-vectors"):
            run("embed", str(masked_run()), str(given), "--of", "words", "--out", str(tmp_path / out), "--force")
    assert reviews.read_text() == '{"text": "the bank"}\n'
    run("embed", str(masked_run()), str(reviews), "--out", str(tmp_path / "reviews.npy"), "--force")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["reviews.jsonl", "reviews.npy"]


def test_neighbours_show_uses_in_groups(texts: str) -> None:
    shown = run("embed", str(masked_run()), texts, "--neighbours", "bank", "--nearest", "2")
    assert shown.count("[bank]") == 6
    assert "Group 2" in shown
    assert "they are apart" in shown
    found = json.loads(run("embed", str(masked_run()), texts, "--neighbours", "bank", "--json"))
    assert len(found["uses"]) == 40
    assert sum(len(group["members"]) for group in found["groups"]) == 40


def test_embed_says_what_to_type(texts: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave --out away"):
        run("embed", str(masked_run()), texts, "--neighbours", "bank", "--out", str(tmp_path / "v.npy"))
    with pytest.raises(DataError, match="no such file"):
        run("embed", str(masked_run()), str(tmp_path / "none.txt"), "--out", str(tmp_path / "v.npy"))
    assert not (tmp_path / "v.npy").exists()

"""`headstart generate`, run as a user runs it."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from model.shapes import model_of, small
from typer.testing import CliRunner

from headstart.checkpoint import Card, save
from headstart.cli import app, writing
from headstart.errors import ConfigError, DataError
from headstart.recipes.generate import Part, Written
from headstart.text.subwords import train_tokenizer


class Shown(NamedTuple):
    stdout: str
    stderr: str


def run(*words: str, stdin: str = "") -> Shown:
    result = CliRunner().invoke(app, ["generate", *words], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return Shown(result.stdout, result.stderr)


@pytest.fixture(scope="module")
def saved_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    tokenizer = train_tokenizer(["the cat sat on the mat", "a dog and a cat"] * 20, 300)
    folder = tmp_path_factory.mktemp("runs") / "lm"
    card = Card(task="lm", shape=small(vocabulary=tokenizer.size))
    model = model_of("lm", vocabulary=tokenizer.size)
    model.get_parameter("head.bias").data[tokenizer.eos] = -50.0  # never ends by chance
    save(folder / "best", model, card, tokenizer)
    return str(folder)


def test_the_text_follows_its_prompt_and_the_seed_fixes_it(saved_run: str) -> None:
    first = run(saved_run, "the cat", "--tokens", "10")
    assert first.stdout.startswith("the cat")
    assert "10 tokens" in first.stderr
    assert "cut at --tokens 10" in first.stderr
    assert first.stdout == run(saved_run, "the cat", "--tokens", "10", "--seed", "0").stdout
    assert first.stdout != run(saved_run, "the cat", "--tokens", "10", "--seed", "1").stdout
    greedy = run(saved_run, "the cat", "--tokens", "10", "--greedy").stdout
    assert greedy == run(saved_run, "the cat", "--tokens", "10", "--temperature", "0", "--seed", "3").stdout


def test_json_is_one_object_a_line_in_the_order_of_the_prompts(saved_run: str, tmp_path: Path) -> None:
    prompts = ["the cat", "", "a dog \u2028 and"]
    file = tmp_path / "prompts.txt"
    file.write_text("\n".join(prompts) + "\n", "utf-8")
    words = ["--tokens", "6", "--samples", "2", "--temperature", "3", "--top-k", "0", "--top-p", "1", "--json"]
    shown = run(saved_run, "--prompts", str(file), *words).stdout
    texts = [json.loads(line) for line in shown.splitlines()]
    assert [text["prompt"] for text in texts] == [prompt for prompt in prompts for _ in range(2)]
    assert all(set(text) == {"prompt", "text", "tokens", "stopped"} for text in texts)
    assert all((text["tokens"], text["stopped"]) == (6, "length") for text in texts)
    assert shown == run(saved_run, "--prompts", "-", *words, stdin=file.read_text("utf-8")).stdout


def test_prompts_in_other_encodings(saved_run: str, tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_bytes("un café\n".encode("windows-1252"))
    words = ["--prompts", str(tmp_path / "prompts.txt"), "--tokens", "2", "--json", "--encoding", "windows-1252"]
    assert json.loads(run(saved_run, *words).stdout)["prompt"] == "un café"


def test_several_texts_are_told_apart(saved_run: str) -> None:
    shown = run(saved_run, "the", "--samples", "2", "--tokens", "3").stdout
    assert "── 1 of 2 ──\nthe" in shown
    assert "── 2 of 2 ──\nthe" in shown


def test_what_the_model_writes_is_shown_and_not_obeyed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "red \x1b[31m\x9b2J [bold]\nnext \u2029"
    whole = Written("\x1b]0;title\x07", text, 3, "length", False)
    writing._show([Part(0, text, whole)], [whole.prompt], 1)
    shown = capsys.readouterr().out
    assert shown.startswith("\\x1b]0;title\\x07red \\x1b[31m\\x9b2J [bold]\nnext ")
    assert all(c.isprintable() or c == "\n" for c in shown)


def test_each_part_is_on_the_screen_before_the_next_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    def parts():  # type: ignore[no-untyped-def]
        yield Part(0, " cat")
        assert capsys.readouterr().out == "the cat"
        yield Part(0, " sat", Written("the", " cat sat", 2, "eos", False))

    writing._show(parts(), ["the"], 1)
    assert capsys.readouterr().out == " sat\n"


def test_past_the_context_is_noted(saved_run: str) -> None:
    assert "model.context" in run(saved_run, "", "--tokens", "40").stderr
    assert "model.context" not in run(saved_run, "", "--tokens", "4").stderr


def test_a_space_at_the_end_of_the_prompt_is_noted(saved_run: str) -> None:
    assert "ends in a space" in run(saved_run, "the ", "--tokens", "2").stderr
    assert "ends in a space" not in run(saved_run, "the", "--tokens", "2").stderr


def test_mistakes_say_what_to_type(saved_run: str, tmp_path: Path) -> None:
    for words, said in (
        (["the", "--temperature", "-1"], "--temperature -1.0: give 0"),
        (["the", "--top-p", "1.5"], "--top-p 1.5: give a share above 0"),
        (["the", "--top-k", "-3"], "--top-k -3: give 1 or more"),
        (["the", "--tokens", "0"], "--tokens 0: at least 1"),
        ([], "give one PROMPT"),
        (["the", "--prompts", "file.txt"], "give one PROMPT"),
    ):
        with pytest.raises(ConfigError, match=said):
            run(saved_run, *words)
    with pytest.raises(DataError, match="no such file"):
        run(saved_run, "--prompts", str(tmp_path / "none.txt"))


def test_help_teaches_with_an_example() -> None:
    assert 'headstart generate runs/lm "Ce livre est"' in run("--help").stdout

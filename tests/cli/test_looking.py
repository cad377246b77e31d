"""The commands that look, run as a user runs them."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from model.shapes import model_of, small
from typer.testing import CliRunner

from headstart.checkpoint import Card, save
from headstart.cli import app
from headstart.errors import HeadstartError
from headstart.text.subwords import train_tokenizer


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "headstart", *words], capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from headstart.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'sklearn', 'matplotlib', 'sentencepiece', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_bill_as_json() -> None:
    table = json.loads(run("bill", "--preset", "lab", "--task", "lm", "--json"))
    assert table["total"] == table["built"] == 21_018_401
    assert sum(line["parameters"] * line["times"] for line in table["lines"] if not line["subtotal"]) == table["total"]


def test_the_bill_for_people() -> None:
    shown = run("bill", "--preset", "lab")
    assert "21,018,401" in shown
    assert "tying them" in shown


def test_a_users_mistake_is_one_line_and_exit_code_2() -> None:
    result = command("bill", "--preset", "lab", "--set", "model.wdith=3")
    assert result.returncode == 2
    assert result.stderr == "error: preset lab with --set: model: unknown setting 'wdith'. Did you mean 'width'?\n"


def test_escapes_in_a_name_are_shown_and_not_obeyed() -> None:
    result = command("check", "model", "no\x1b[31msuch[bold]")
    assert result.returncode == 2
    assert "\x1b" not in result.stderr
    assert "\\x1b[31msuch[bold]" in result.stderr


def test_the_pictures(tmp_path: Path) -> None:
    for name in ("mask", "positions"):
        run("draw", name, "--out", str(tmp_path / f"{name}.svg"))
        assert ElementTree.parse(tmp_path / f"{name}.svg").getroot().tag.endswith("svg")


@pytest.fixture
def saved_run(tmp_path: Path) -> Path:
    tokenizer = train_tokenizer(["the cat sat on the mat", "a dog and a cat"] * 20, 300)
    card = Card(task="lm", shape=small(vocabulary=tokenizer.size))
    save(tmp_path / "run" / "best", model_of("lm", vocabulary=tokenizer.size), card, tokenizer)
    return tmp_path / "run"


def test_the_attention_of_a_run_is_drawn(saved_run: Path, tmp_path: Path) -> None:
    run("draw", "attention", str(saved_run), "the cat & a <dog>", "--out", str(tmp_path / "a.svg"))
    text = " ".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())
    assert "cat" in text
    with pytest.raises(HeadstartError, match="layers 1 to 2"):
        run("draw", "attention", str(saved_run), "cat", "--layer", "9", "--out", str(tmp_path / "b.svg"))
    assert not (tmp_path / "b.svg").exists()


def test_check_model_passes_and_fails_with_exit_code_1(saved_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no future leak" in run("check", "model", str(saved_run))
    from headstart.model.attention import Sight
    from headstart.model.body import Body

    monkeypatch.setattr(Body, "sight", lambda self, *rest: Sight())
    assert "FAILS" in run("check", "model", str(saved_run), code=1)


def test_import_refuses_an_occupied_folder(saved_run: Path, tmp_path: Path) -> None:
    torch.save({}, tmp_path / "lab.pt")
    with pytest.raises(HeadstartError, match="already holds something"):
        run("import", str(tmp_path / "lab.pt"), "--out", str(saved_run))

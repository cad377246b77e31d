"""Text that strangers wrote is shown as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.cli.show import plain, say_json, say_json_line, table


@given(st.text())
def test_nothing_that_drives_a_terminal_gets_through(text: str) -> None:
    shown = plain(text)
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u2028\u202e" for c in shown)


def test_spaces_of_all_kinds_stay() -> None:
    assert plain("« oui » !\u202f") == "« oui » !\u202f"


def test_what_joins_and_parts_letters_stays() -> None:
    joined = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 co\u00adop \U0001f469\u200d\U0001f4bb \U0001fae9"
    assert plain(joined) == joined


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\u2028b\x9b31m", "[bold]x[/bold]", "</script>", "l'été"])
def test_json_comes_back_and_drives_nothing(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say_json_line({"text": text})
    line = capsys.readouterr().out
    assert json.loads(line) == {"text": text}
    assert line.rstrip("\n").isprintable()
    say_json({"text": [text]})
    assert json.loads(capsys.readouterr().out) == {"text": [text]}


def test_markup_in_a_table_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    table(["[red]a[/red]"], [("[bold]b[/bold] \x1b[1m",)])
    shown = capsys.readouterr().out
    assert "[red]a[/red]" in shown
    assert "[bold]b[/bold] \\x1b[1m" in shown

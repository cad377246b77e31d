"""What a person sees in the terminal; text that strangers wrote is shown as text, never obeyed."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unicodedata import category

from headstart.cli.progress import Bar

TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # of the direction of writing


def plain(text: object) -> str:
    """Control characters become visible, so that no file can move the cursor, colour the screen or turn its lines.

    What joins and parts letters stays, as do characters that are younger than this Python.
    """
    return "".join(c if c.isprintable() or c == "\n" or _harmless(c) else _visible(c) for c in str(text))


def say(text: object = "") -> None:
    print(plain(text))


def complain(text: object) -> None:
    print(f"error: {plain(text)}", file=sys.stderr)


def note(text: object) -> None:
    """Worth knowing, but not part of what a program would read from stdout."""
    print(plain(text), file=sys.stderr)


def say_json(value: Any) -> None:
    print("\n".join(map(_escaped, json.dumps(value, ensure_ascii=False, indent=1, default=str).split("\n"))))


def say_json_line(value: Any) -> None:
    """One object on one line, for a pipe that reads as we write."""
    print(_escaped(json.dumps(value, ensure_ascii=False)), flush=True)


def _escaped(line: str) -> str:
    """What is no letter, sign or space is written as JSON writes it, so that no text can drive a terminal."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() or category(c) == "Zs" else json.dumps(c)[1:-1] for c in line)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[int] = ()) -> None:
    """Columns whose index is in `numbers` stand right-aligned."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        shown.add_column(Text(column), justify="right" if i in numbers else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 140
    Console(highlight=False, width=width).print(shown)


def number(value: float) -> str:
    """12,345,678 -> 12.3 M"""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.1f} {letter}"
    return f"{value:.0f}"


@contextmanager
def bytes_read(size: int) -> Iterator[Callable[[int], None]]:
    """Gives what is told the bytes read of `size`."""
    with progress("reading", size, "bytes") as bar:
        yield bar.advance


@contextmanager
def progress(title: str, total: int | None, unit: str = "") -> Iterator[Bar]:
    """A bar on a terminal, a line now and then elsewhere, on stderr."""
    with Bar(title, total, unit) as bar:
        yield bar


def _harmless(character: str) -> bool:
    return category(character) in ("Zs", "Cf", "Co", "Cn") and character not in TURNS


def _visible(character: str) -> str:
    return "⇥" if character == "\t" else f"\\x{ord(character):02x}" if ord(character) < 256 else "�"

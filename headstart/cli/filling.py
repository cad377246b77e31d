"""Commands that fill gaps: fill."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headstart.cli.app import Json, app
from headstart.cli.reading import Encoding
from headstart.cli.show import note, say, say_json_line
from headstart.errors import ConfigError

if TYPE_CHECKING:
    from headstart.recipes.fill import Filled, Guess


@app.command()
def fill(
    run: Annotated[Path, typer.Argument(help="The run folder of a masked or bert model.")],
    text: Annotated[
        str | None, typer.Argument(show_default=False, help="A text with a <mask>, or several, in it.")
    ] = None,
    texts: Annotated[
        str, typer.Option(metavar="FILE", show_default=False, help="Many texts, one a line, or - for a pipe.")
    ] = "",
    top: Annotated[int, typer.Option(help="So many guesses for each gap.")] = 5,
    encoding: Encoding = "utf-8",
    device: Annotated[str, typer.Option(help="cpu, cuda or mps.")] = "cpu",
    as_json: Json = False,
) -> None:
    """Guess the words behind each <mask> from both sides, with a model made by `pretrain --objective masked`.

    Try: headstart fill runs/masked "Ce livre est <mask>."

    A guess is one piece of the tokenizer. Most pieces are words or begin one; a piece that goes on with the word before
    it is shown as …ne. A long word may need several <mask> in a row; each is guessed as if the others stayed open.

    For a program: headstart fill runs/masked --texts texts.txt --json > guesses.jsonl
    """
    from headstart.recipes.fill import fill as recipe

    found = recipe(run, _texts(text, texts, encoding), top=top, device=device)
    if as_json:
        for filled in found:
            say_json_line(asdict(filled))
        return
    if _show(found):
        note("\n… goes on with the word before the gap.")


def _texts(text: str | None, file: str, encoding: str) -> Iterable[str]:
    if (text is None) == (not file):
        raise ConfigError('give one TEXT, such as "Ce livre est <mask>.", or --texts FILE with one a line')
    if text is not None:
        return [text]
    from headstart.text.readers import read_rows
    from headstart.text.records import Reading

    return (row.text for row in read_rows(file, Reading(encoding=encoding), labelled=False))


def _show(texts: Iterable["Filled"]) -> bool:
    """True where a guess goes on with a word, which wants a word of explanation."""
    attached = False
    for number, filled in enumerate(texts):
        say(f"{chr(10) if number else ''}{filled.text}")
        for place, guesses in enumerate(filled.gaps, 1):
            if len(filled.gaps) > 1:
                say(f" <mask> {place}")
            for guess in guesses:
                say(f"  {guess.probability:7.2%}  {_word(guess)}")
            attached |= any(map(_goes_on, guesses))
        say(f"Likeliest: {filled.likeliest}")
    return attached


def _word(guess: "Guess") -> str:
    """Punctuation stands as it is; a lone space is made visible."""
    return f"…{guess.word}" if _goes_on(guess) else guess.word or "␣"


def _goes_on(guess: "Guess") -> bool:
    return guess.attached and guess.word[:1].isalnum()

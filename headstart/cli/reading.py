"""The options of commands that read a user's files."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Literal

import typer

from headstart.config import load
from headstart.text.records import Reading

TextColumn = Annotated[str, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str, typer.Option(help="The column that holds the label.")]
SourceColumn = Annotated[str, typer.Option(help="Of pairs in a table: the column of the source.")]
TargetColumn = Annotated[str, typer.Option(help="Of pairs in a table: the column of its translation.")]
Documents = Annotated[
    Literal["auto", "lines", "blocks"],
    typer.Option(help="In .txt files a document is a line, or a block between blank lines."),
]
Encoding = Annotated[str, typer.Option(help="The encoding of the files.")]


@dataclass(frozen=True, kw_only=True)
class Section:
    """What --set may change in a command that only reads."""

    reading: Reading = field(default_factory=Reading)


def reading_of(overrides: list[str] | None, **options: str) -> Reading:
    """The options, and on top of them what --set says of the section `reading`."""
    given = [f"reading.{name}={json.dumps(value)}" for name, value in options.items()]
    return load(Section, overrides=[*given, *(overrides or ())]).reading

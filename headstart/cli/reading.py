"""The options of commands that read a user's files."""

from typing import Annotated, Literal

import typer

TextColumn = Annotated[str, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str, typer.Option(help="The column that holds the label.")]
Documents = Annotated[
    Literal["auto", "lines", "blocks"],
    typer.Option(help="In .txt files a document is a line, or a block between blank lines."),
]
Encoding = Annotated[str, typer.Option(help="The encoding of the files.")]

"""The options of commands that train."""

from collections.abc import Mapping
from typing import Annotated, Literal

import typer

Resume = Annotated[bool, typer.Option("--resume", help="Go on where the run stopped; on an empty folder, start.")]
LARGEST_SEED = 2**62  # several seeds in a row must fit into 64 bits
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Fixes the first weights, the order and the dropout.")]
Jobs = Annotated[
    int, typer.Option(help="How many models are fine-tuned at once; 0: as many as there are cores, one on a GPU.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
TextColumn = Annotated[str | None, typer.Option(help="The column that holds the text.")]
Objective = Annotated[
    Literal["causal", "masked", "bert"] | None,
    typer.Option(
        help="causal: predict the next token. masked: guess hidden tokens from both sides. "
        "bert: masked, and whether one text follows another."
    ),
]
Board = Annotated[bool, typer.Option("--tensorboard", help="Also write what TensorBoard shows to OUT/tensorboard.")]
Encoding = Annotated[str | None, typer.Option(help="The encoding of the files, where it is not UTF-8.")]
Minutes = Annotated[
    float,
    typer.Option(
        help="Stop after about so many minutes; a probe fixes the steps. 10 without --epochs or --steps.",
        show_default=False,
    ),
]
Steps = Annotated[int, typer.Option(help="Stop after so many steps.", show_default=False)]


def as_overrides(given: Mapping[str, object]) -> list[str]:
    """Options that were given, as --set writes them; the others stay as the preset or the file says."""
    return [f"{name}={value}" for name, value in given.items() if value is not None]

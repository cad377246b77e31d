"""The Typer application and the options that several commands share."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from headstart.cli.show import complain


class Commands(TyperGroup):
    """Typer has endings of its own for these two, without a word for the first, and as a failure for the second."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            complain("stopped")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader of our output went away, as `| head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


def given_options(ctx: typer.Context) -> set[str]:
    """The options that the user typed, such as --beam."""
    typed = {name for name in ctx.params if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"}
    return {option.opts[0] for option in ctx.command.params if option.name in typed}


app = typer.Typer(
    name="headstart",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    suggest_commands=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pretrain a transformer on your own text, fine-tune it on your few labels, "
    "and be told honestly what the head start was worth.",
)
check = typer.Typer(no_args_is_help=True, help="Prove things about your own data, model or runs.")
draw = typer.Typer(no_args_is_help=True, help="Draw what the model does, as SVG.")
app.add_typer(check, name="check")
app.add_typer(draw, name="draw")

Preset = Annotated[str, typer.Option(help="Start from these: lab, tiny, small, base, bert-base or translate-tiny.")]
Config = Annotated[Path | None, typer.Option("--config", help="A TOML file of settings, on top of the preset.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.NAME=VALUE", help="Change one setting, e.g. model.width=256. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program instead of text for a person.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is already there.")]


@app.callback(invoke_without_command=True)
def about(version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False) -> None:
    if version:
        from headstart import __version__

        typer.echo(f"headstart {__version__}")
        raise typer.Exit

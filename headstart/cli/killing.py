"""The command check resume: kills a training, resumes it, and compares the bytes."""

from pathlib import Path
from typing import Annotated

import typer

from headstart.cli.app import Config, Json, Overrides, check
from headstart.cli.show import note, say, say_json, table
from headstart.cli.training_options import Objective
from headstart.errors import ConfigError


@check.command("resume")
def check_resume(
    corpus: Annotated[list[str] | None, typer.Option(help="Your text; made-up text without it. Repeatable.")] = None,
    pairs: Annotated[
        str | None, typer.Option(metavar="PAIRS", help="Train a translator instead, on these: SOURCE:TARGET.")
    ] = None,
    valid: Annotated[str | None, typer.Option(metavar="PAIRS", help="With --pairs: those to choose it on.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Settings, as the training command takes them.", show_default="tiny or translate-tiny"),
    ] = None,
    objective: Objective = None,
    tokenizer: Annotated[Path | None, typer.Option(help="Your tokenizer.")] = None,
    steps: Annotated[int, typer.Option(help="Length of the runs.")] = 12,
    kills: Annotated[int, typer.Option(help="How often the run is killed.")] = 2,
    config: Config = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Train, kill at random steps, resume, and compare the bytes with an uninterrupted run: weights, optimiser, scores.

    A translator: headstart check resume --pairs train.en:train.de --valid valid.en:valid.de

    Exit code 1 if they differ.
    """
    from dataclasses import asdict

    from headstart.recipes.check_resume import check_resume as recipe
    from headstart.recipes.settings import read_settings

    if (pairs is None) != (valid is None):
        raise ConfigError("a translator needs both: --pairs SOURCE:TARGET --valid SOURCE:TARGET")
    if pairs is not None and (corpus or objective):
        raise ConfigError("--pairs trains a translator; leave --corpus and --objective out")
    preset = preset or ("translate-tiny" if pairs else "tiny")
    read_settings(preset, config, overrides or ())
    options = ["--preset", preset]
    options += ["--valid", valid] if valid else []
    options += ["--objective", objective] if objective else []
    options += ["--tokenizer", str(tokenizer)] if tokenizer else []
    options += ["--config", str(config)] if config else []
    options += [word for override in overrides or () for word in ("--set", override)]
    files = [pairs] if pairs else corpus or ()
    proof = recipe("translator" if pairs else "pretrain", files, options, steps=steps, kills=kills, say=note)
    if as_json:
        say_json({**asdict(proof), "holds": proof.holds})
    else:
        rows = [(name, proof.whole[name][:16], proof.resumed[name][:16]) for name in proof.whole]
        table(["file", "uninterrupted", f"killed at {', '.join(map(str, proof.killed_at))}"], rows)
        bleu = f", and the same BLEU: {proof.scores['bleu']:.4g}" if pairs else ""
        say(f"Holds: the same bytes{bleu}." if proof.holds else "FAILS: the bytes differ.")
    if not proof.holds:
        raise typer.Exit(1)

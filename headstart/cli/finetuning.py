"""The command finetune: a pretrained run learns labels."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.cli.app import Config, Force, Json, Overrides, app
from headstart.cli.show import note, say, say_json, table
from headstart.cli.training_bar import TrainingBar
from headstart.cli.training_options import Board, Device, Encoding, Resume, Seed, TextColumn, as_overrides
from headstart.errors import ConfigError


@app.command()
def finetune(
    train: Annotated[str, typer.Argument(help="Labelled rows: .csv, .tsv, .jsonl, .parquet, or TEXTS:LABELS.")],
    start: Annotated[str, typer.Option("--from", help="A pretrained run, or the word scratch.")],
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    valid: Annotated[str, typer.Option(help="Rows to choose the epoch on; without it a part of TRAIN.")] = "",
    unlabelled: Annotated[
        list[str] | None,
        typer.Option(
            help="Texts without labels: a first model, TF-IDF and counted token vectors guess them, and a second model "
            "learns from the guesses too. Repeatable."
        ),
    ] = None,
    with_baseline: Annotated[
        bool,
        typer.Option(
            "--with-baseline", help="Predictions are the mean of the model's and of TF-IDF's, which is saved beside it."
        ),
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the training rows; by default more for fewer rows.")
    ] = None,
    freeze: Annotated[
        Literal["none", "body", "gradual"] | None,
        typer.Option(help="body: only the head learns; gradual: one more layer each epoch."),
    ] = None,
    pooling: Annotated[
        Literal["auto", "last", "mean", "first"] | None,
        typer.Option(
            help="Where the head reads a text: at its last token, at the mean of all, or at the first, which is <cls> "
            "and for bodies that look both ways. auto: last in a causal body, else mean."
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="The shape, with --from scratch.")] = "tiny",
    tokenizer: Annotated[Path | None, typer.Option(help="With --from scratch; without it one is trained.")] = None,
    bidirectional: Annotated[
        bool, typer.Option("--bidirectional", help="With --from scratch: a body that looks both ways.")
    ] = False,
    text_column: TextColumn = None,
    label_column: Annotated[str | None, typer.Option(help="The column that holds the label.")] = None,
    encoding: Encoding = None,
    seed: Seed = 0,
    device: Device = "auto",
    config: Config = None,
    overrides: Overrides = None,
    resume: Resume = False,
    force: Force = False,
    tensorboard: Board = False,
    as_json: Json = False,
) -> None:
    """Swap the head of a pretrained run for a class head and fine-tune it on labels.

    A column text_b makes it a task on pairs of texts.

    Try: headstart finetune train.csv --from runs/lm --out runs/clf

    With few labels and many texts like them: … --unlabelled reviews.txt --with-baseline
    """
    from dataclasses import asdict

    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.classify import finetune_files
    from headstart.recipes.settings import read_settings

    given = {
        "finetune.epochs": epochs,
        "finetune.freeze": freeze,
        "finetune.pooling": pooling,
        "finetune.baseline": "true" if with_baseline else None,
        "reading.text_column": text_column,
        "reading.label_column": label_column,
        "reading.encoding": encoding,
    }
    shaping = next((each for each in overrides or () if each.strip().startswith("model.")), "")
    given_too = {"--bidirectional": bidirectional, "--tokenizer": tokenizer, f"--set {shaping}": shaping}
    if start != "scratch" and (idle := next((name for name, value in given_too.items() if value), "")):
        raise ConfigError(f"{idle}: only with --from scratch; {start} brings its own body and tokenizer")
    settings = read_settings(preset, config, [*as_overrides(given), *(overrides or ())])
    with TrainingBar("fine-tuning") as bar, saved_on_interrupt(out):
        done = finetune_files(
            train,
            valid,
            out,
            start=None if start == "scratch" else Path(start),
            settings=settings,
            unlabelled=unlabelled or (),
            tokenizer=tokenizer,
            causal=not bidirectional,
            seed=seed,
            device=device,
            resume=resume,
            force=force,
            tensorboard=tensorboard,
            say=note,
            watch=bar.watch,
            begin=bar.begin,
        )
    if as_json:
        say_json({**asdict(done), "ledger": done.ledger.to_json()})
        return
    say(done.ledger.sentence())
    rows = [
        (
            epoch.number,
            f"{epoch.train_loss:.3f}",
            f"{epoch.valid_loss:.3f}",
            f"{epoch.accuracy:.3f}",
            f"{epoch.seconds:.0f}",
        )
        for epoch in done.epochs
    ]
    table(["epoch", "train loss", "valid loss", "valid accuracy", "seconds"], rows, numbers=range(5))
    say(f"Best: epoch {done.best}, by validation accuracy.")
    if done.with_baseline is not None:
        say(f"With the classic baseline beside it: validation accuracy {done.with_baseline:.3f}.")
    for sentence in done.warnings:
        say(f"Note: {sentence}")
    say(f"Wrote {out}/best. Next: headstart predict {out} FILE, or headstart compare to see what pretraining was worth")

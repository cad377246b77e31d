"""Commands that train: pretrain and finetune."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.cli.app import Config, Force, Json, Overrides, Preset, app, check
from headstart.cli.show import bytes_read, note, say, say_json, table
from headstart.cli.training_bar import TrainingBar
from headstart.errors import ConfigError

Resume = Annotated[bool, typer.Option("--resume", help="Go on where the run stopped; on an empty folder, start.")]
Seed = Annotated[int, typer.Option(help="Fixes the first weights, the order and the dropout.")]
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

HELD_OUT = {
    "causal": "loss {held_out_loss:.3f}, perplexity {perplexity:.1f}, {bits_per_byte:.3f} bits per byte",
    "masked": "loss {masked_loss:.3f} for a hidden token",
    "bert": "loss {masked_loss:.3f} for a hidden token",
}
NEXT_SENTENCE = (
    " and {next_sentence_loss:.3f} for the next sentence, told right {next_sentence_accuracy:.1%} of the time"
)
NEXT = {
    "causal": 'headstart generate {} "Once upon a time"',
    "masked": 'headstart fill {} "Once upon a <mask>."',
    "bert": 'headstart fill {} "Once upon a <mask>."',
}


def as_overrides(given: Mapping[str, object]) -> list[str]:
    """Options that were given, as --set writes them; the others stay as the preset or the file says."""
    return [f"{name}={value}" for name, value in given.items() if value is not None]


@app.command()
def pretrain(
    corpus: Annotated[list[str], typer.Argument(help="Files or folders of text; - for standard input.")],
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    preset: Preset = "tiny",
    objective: Objective = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="Go on with the weights of this run, its tokenizer and its shape.")
    ] = None,
    tokenizer: Annotated[Path | None, typer.Option(help="Its folder or file; without it one is trained.")] = None,
    whole_words: Annotated[bool, typer.Option("--whole-words", help="Hide whole words, not pieces of them.")] = False,
    minutes: Minutes = 0.0,
    epochs: Annotated[float, typer.Option(help="Stop after so many passes over the corpus.", show_default=False)] = 0.0,
    steps: Steps = 0,
    save_every: Annotated[int | None, typer.Option(help="Save the state every so many steps.")] = None,
    text_column: TextColumn = None,
    documents: Annotated[
        Literal["auto", "lines", "blocks"] | None,
        typer.Option(help="In .txt files a document is a line, or a block between blank lines."),
    ] = None,
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
    """Pretrain a model on raw text: by predicting the next token, or by guessing hidden ones from both sides.

    Try: headstart pretrain reviews.txt --out runs/lm --minutes 20

    Then, on text nearer to your task: headstart pretrain domain.txt --from runs/lm --out runs/lm2 --minutes 10
    """
    from dataclasses import asdict

    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.pretrain import pretrain
    from headstart.recipes.running.stopping import StopRule
    from headstart.recipes.settings import read_settings

    shaping = next((each for each in overrides or () if each.strip().startswith("model.")), "")
    if shaping and start is not None:
        raise ConfigError(f"--set {shaping}: the shape is that of {start}, whose weights go on; leave it out")
    if whole_words and not _hides(objective, start):
        hidden = "add --objective masked or bert" if start is None else f"{start} goes on as it was pretrained"
        raise ConfigError(f"--whole-words: a causal model hides no words; {hidden}, or leave it out")
    given = {
        "train.save_every": save_every,
        "data.whole_words": "true" if whole_words else None,
        "reading.text_column": text_column,
        "reading.documents": documents,
        "reading.encoding": encoding,
    }
    settings = read_settings(preset, config, [*as_overrides(given), *(overrides or ())])
    stop = StopRule(minutes=minutes or (10.0 if not (epochs or steps) else 0.0), epochs=epochs, steps=steps)
    with TrainingBar("pretraining") as bar, saved_on_interrupt(out):
        done = pretrain(
            corpus,
            out,
            settings=settings,
            stop=stop,
            objective=objective,
            start=start,
            tokenizer=tokenizer,
            seed=seed,
            device=device,
            resume=resume,
            force=force,
            tensorboard=tensorboard,
            say=note,
            watch=bar.watch,
            begin=bar.begin,
            show_reading=bytes_read,
        )
    if as_json:
        say_json({**asdict(done), "ledger": done.ledger.to_json()})
        return
    say(done.ledger.sentence())
    asked = NEXT_SENTENCE if "next_sentence_loss" in done.scores else ""
    figures = (HELD_OUT[done.objective] + asked).format(**done.scores)
    say(f"{done.steps:,} steps, {done.tokens:,} tokens in {done.seconds / 60:.1f} minutes. Held-out text: {figures}.")
    for sentence in done.notes:
        say(f"Note: {sentence}")
    say(f"Wrote {out}/best. Next: headstart finetune TRAIN --from {out} --out runs/clf")
    say(f"      or: {NEXT[done.objective].format(out)}")


def _hides(objective: str | None, start: Path | None) -> bool:
    """Whether a pretraining hides tokens; one that goes on from a run does what that run did."""
    if start is None:
        return objective in ("masked", "bert")
    from headstart.checkpoint import find, read_card

    return read_card(find(start)).task != "lm"


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


@check.command("resume")
def check_resume(
    corpus: Annotated[list[str] | None, typer.Option(help="Your text; made-up text without it. Repeatable.")] = None,
    preset: Preset = "tiny",
    objective: Objective = None,
    tokenizer: Annotated[Path | None, typer.Option(help="Your tokenizer.")] = None,
    steps: Annotated[int, typer.Option(help="Length of the runs.")] = 12,
    kills: Annotated[int, typer.Option(help="How often the run is killed.")] = 2,
    config: Config = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Train, kill at random steps, resume, and compare the bytes with an uninterrupted run.

    Exit code 1 if they differ.
    """
    from dataclasses import asdict

    from headstart.recipes.check_resume import check_resume as recipe
    from headstart.recipes.settings import read_settings

    read_settings(preset, config, overrides or ())
    options = ["--preset", preset]
    options += ["--objective", objective] if objective else []
    options += ["--tokenizer", str(tokenizer)] if tokenizer else []
    options += ["--config", str(config)] if config else []
    options += [word for override in overrides or () for word in ("--set", override)]
    proof = recipe(corpus or (), options, steps=steps, kills=kills, say=note)
    if as_json:
        say_json({**asdict(proof), "holds": proof.holds})
    else:
        rows = [(name, proof.whole[name][:16], proof.resumed[name][:16]) for name in proof.whole]
        table(["file", "uninterrupted", f"killed at {', '.join(map(str, proof.killed_at))}"], rows)
        say("Holds: the same bytes." if proof.holds else "FAILS: the bytes differ.")
    if not proof.holds:
        raise typer.Exit(1)

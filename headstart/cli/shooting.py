"""The command that lets the ways to pretrain compete: shootout."""

import shlex
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from headstart.cli.app import Config, Force, Json, Overrides, Preset, app
from headstart.cli.comparing import accuracy_cell, arm_bar, label_counts_of
from headstart.cli.show import bytes_read, note, number, say, say_json, table
from headstart.cli.training_bar import TrainingBar
from headstart.cli.training_options import (
    LARGEST_SEED,
    Device,
    Encoding,
    Jobs,
    Resume,
    TextColumn,
    as_overrides,
)


@app.command()
def shootout(
    corpus: Annotated[list[str], typer.Argument(help="Files or folders of text to pretrain on.")],
    train: Annotated[str, typer.Option(help="Labelled rows: .csv, .tsv, .jsonl, .parquet, or TEXTS:LABELS.")],
    valid: Annotated[str, typer.Option(help="Labelled rows on which every choice is made.")],
    test: Annotated[str, typer.Option(help="Labelled rows that are opened once, at the end.")],
    minutes: Annotated[float, typer.Option(help="Of pretraining, for each objective.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    objectives: Annotated[str, typer.Option(help="Who competes, with commas between.")] = "causal,masked,bert",
    equal: Annotated[
        Literal["minutes", "flops"],
        typer.Option(help="minutes: each by its own speed. flops: as many as the first objective does in its minutes."),
    ] = "minutes",
    preset: Preset = "tiny",
    tokenizer: Annotated[Path | None, typer.Option(help="Its folder or file; without it one is trained.")] = None,
    seeds: Annotated[int, typer.Option(help="How many times each body is fine-tuned.")] = 3,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Of the pretrainings, and the first of the fine-tunings.")
    ] = 0,
    label_counts: Annotated[
        str, typer.Option(metavar="50,200,800", help="Also fine-tune on so few labels, for the label curve.")
    ] = "",
    scratch: Annotated[
        bool, typer.Option("--scratch", help="Also train bodies from scratch, one for each way to look.")
    ] = False,
    epochs: Annotated[int | None, typer.Option(help="Passes over the labelled rows.")] = None,
    text_column: TextColumn = None,
    label_column: Annotated[str | None, typer.Option(help="The column that holds the label.")] = None,
    documents: Annotated[
        Literal["auto", "lines", "blocks"] | None,
        typer.Option(help="In .txt files a document is a line, or a block between blank lines."),
    ] = None,
    encoding: Encoding = None,
    device: Device = "auto",
    jobs: Jobs = 0,
    config: Config = None,
    overrides: Overrides = None,
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Next word, hidden words, or BERT's two tasks: which pretraining is best for your labels, at equal compute?

    Bodies of one shape read the same tokens; each is fine-tuned over several seeds, beside the classic baselines.

    Try: headstart shootout texts.txt --train train.csv --valid valid.csv --test test.csv --minutes 10 --out runs/so
    """
    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.settings import read_settings
    from headstart.recipes.shootout import Rules, shootout

    given = {
        "finetune.epochs": epochs,
        "reading.text_column": text_column,
        "reading.label_column": label_column,
        "reading.documents": documents,
        "reading.encoding": encoding,
    }
    rules = Rules(
        train=train,
        valid=valid,
        test=test,
        out=out,
        settings=read_settings(preset, config, [*as_overrides(given), *(overrides or ())]),
        seeds=tuple(range(seed, seed + seeds)),
        label_counts=label_counts_of(label_counts),
        corpus=tuple(corpus),
        device=device,
        jobs=jobs,
        command=shlex.join(["headstart", *(word for word in sys.argv[1:] if word not in ("--resume", "--force"))]),
        minutes=minutes,
        objectives=tuple(name.strip() for name in objectives.split(",")),  # type: ignore[misc]  # Rules checks
        equal=equal,
        tokenizer=tokenizer,
        scratch=scratch,
    )
    with saved_on_interrupt(out):
        done = shootout(rules, resume=resume, force=force, say=note, show=_bar, show_reading=bytes_read)
    if as_json:
        say_json({"report": str(done.page), **done.scores})
        return
    tell_shootout(done.scores)
    say(f"\nWrote {done.page} and {out / 'scores.json'}.")
    say(f"Next: open {done.page}, or headstart predict {_best_model(out, done.scores)} FILE")


def _bar(title: str) -> AbstractContextManager[Any]:
    """A pretraining takes long, so it is told of elsewhere than on a terminal, too."""
    return TrainingBar(title) if title.startswith("pretraining") else arm_bar(title)


def _best_model(out: Path, scores: dict[str, Any]) -> Path:
    """Of the objective that leads, the seed that was best on validation."""
    leader = scores["verdict"]["leader"]
    system = next(system for system in scores["systems"] if system["name"] == leader)
    best = max(system["seeds"], key=lambda seed: float(seed["valid_accuracy"]))
    return out / "arms" / f"{leader}-seed-{best['seed']}"


def tell_shootout(scores: dict[str, Any]) -> None:
    """What each body cost and came to, the table of systems, and the verdict."""
    rows: list[tuple[object, ...]] = []
    for run in scores["pretraining"]:
        held = run["held_out"]
        loss = f"{held['masked_loss']:.3f}" if "masked_loss" in held else "–"
        bits = f"{run['bits_per_byte']:.3f}" if run["bits_per_byte"] is not None else "–"
        work = f"{run['seconds'] / 60:.1f}", number(run["tokens"]), f"{run['epochs']:.2f}", f"{run['operations']:.2e}"
        rows.append((run["objective"], *work, bits, loss))
    columns = ["pretraining", "minutes", "tokens", "epochs", "FLOPs", "bits per byte", "loss, hidden token"]
    table(columns, rows, numbers=range(1, len(columns)))
    if {"masked", "bert"} <= set(scores["objectives"]):
        say("The losses of masked and bert do not compare: other tokens are hidden, in rows laid out otherwise.")
    say()
    leaked = scores["leaks"]["test_rows"]
    rows = []
    for system in scores["systems"]:
        without = [accuracy_cell(system["accuracy_without_leaks"])] if leaked else []
        cells = accuracy_cell(system["accuracy"]), *without, f"{system['seconds']:.1f}"
        rows.append((system["short"], len(system["seeds"]), *cells))
    columns = ["system", "seeds", "test accuracy, 95 % interval", *([f"without {leaked} leaked"] if leaked else [])]
    table([*columns, "seconds to train"], rows, numbers=range(1, len(columns) + 1))
    if scores["label_curve"]:
        say(f"\n{scores['label_curve']['sentence']}")
    say(f"\nVerdict: {scores['verdict']['sentence']}")
    for remark in scores["verdict"]["remarks"]:
        say(f"  {remark}")

"""The command at the heart: compare."""

import shlex
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from headstart.cli.app import Config, Force, Json, Overrides, app
from headstart.cli.show import note, say, say_json, table
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
from headstart.errors import ConfigError


@app.command()
def compare(
    train: Annotated[str, typer.Argument(help="Labelled rows: .csv, .tsv, .jsonl, .parquet, or TEXTS:LABELS.")],
    run: Annotated[Path, typer.Option("--from", help="The pretrained run.")],
    valid: Annotated[str, typer.Option(help="Labelled rows on which every choice is made.")],
    test: Annotated[str, typer.Option(help="Labelled rows that are opened once, at the end.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    seeds: Annotated[int, typer.Option(help="How many times each model is trained.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The first seed; the others follow it.")] = 0,
    label_counts: Annotated[
        str, typer.Option(metavar="50,200,800", help="Also train on so few labels, for the label curve.")
    ] = "",
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the training rows; by default more for fewer rows.")
    ] = None,
    unlabelled: Annotated[
        list[str] | None,
        typer.Option(help="Texts without labels, which both models guess and learn from, too. Repeatable."),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="The pretraining text, to look for test texts in it, if the run kept no tokens. Repeatable."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Settings to start from; the shape comes with the run.")] = None,
    text_column: TextColumn = None,
    label_column: Annotated[str | None, typer.Option(help="The column that holds the label.")] = None,
    encoding: Encoding = None,
    device: Device = "auto",
    jobs: Jobs = 0,
    config: Config = None,
    overrides: Overrides = None,
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Scratch, pretrained and the classic baselines on the same splits: what was the head start worth?

    Try: headstart compare train.csv --from runs/lm --valid valid.csv --test test.csv --out runs/cmp
    """
    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.compare import compare
    from headstart.recipes.comparing.plan import Request
    from headstart.recipes.settings import read_settings

    shaping = next((each for each in overrides or () if each.strip().startswith("model.")), "")
    if shaping:
        raise ConfigError(f"--set {shaping}: both models have the shape of {run}, so it cannot be changed here")
    given = {
        "finetune.epochs": epochs,
        "reading.text_column": text_column,
        "reading.label_column": label_column,
        "reading.encoding": encoding,
    }
    request = Request(
        train=train,
        valid=valid,
        test=test,
        run=run,
        out=out,
        settings=read_settings(preset, config, [*as_overrides(given), *(overrides or ())]),
        seeds=tuple(range(seed, seed + seeds)),
        label_counts=label_counts_of(label_counts),
        corpus=tuple(corpus or ()),
        unlabelled=tuple(unlabelled or ()),
        device=device,
        jobs=jobs,
        command=shlex.join(["headstart", *(word for word in sys.argv[1:] if word not in ("--resume", "--force"))]),
    )
    with saved_on_interrupt(out):
        done = compare(request, resume=resume, force=force, say=note, show=arm_bar)
    if as_json:
        say_json({"report": str(done.page), **done.scores})
        return
    tell_comparison(done.scores)
    say(f"\nWrote {done.page} and {out / 'scores.json'}. Next: open the report in a browser,")
    say(f"      or: headstart predict {_best_model(out, done.scores)} FILE")


def label_counts_of(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(count) for count in text.split(",") if count.strip())
    except ValueError:
        raise ConfigError(f"--label-counts {text}: write whole numbers with commas between them: 50,200,800") from None


def arm_bar(title: str) -> AbstractContextManager[Any]:
    """Elsewhere than on a terminal one line for each finished arm is enough."""
    return TrainingBar(title, quiet=not sys.stderr.isatty())


def tell_comparison(scores: dict[str, Any]) -> None:
    """The table of systems, what the head start bought, and the verdict."""
    leaked = scores["leaks"]["test_rows"]
    rows = []
    for system in scores["systems"]:
        without = [accuracy_cell(system["accuracy_without_leaks"])] if leaked else []
        seconds = f"{system['seconds']:.1f}", f"{system['predict_seconds']:.1f}"
        rows.append((system["short"], len(system["seeds"]), accuracy_cell(system["accuracy"]), *without, *seconds))
    columns = ["system", "seeds", "test accuracy, 95 % interval", *([f"without {leaked} leaked"] if leaked else [])]
    table([*columns, "seconds to train", "to read the test"], rows, numbers=range(1, len(columns) + 2))
    say()
    for sentence in (scores["by_epoch"]["sentence"], scores["time"]["sentence"]):
        say(sentence)
    if scores["label_curve"]:
        say(scores["label_curve"]["sentence"])
    say(f"\nVerdict: {scores['verdict']['sentence']}")
    for remark in scores["verdict"]["remarks"]:
        say(f"  {remark}")


def accuracy_cell(found: dict[str, float] | None) -> str:
    return f"{found['value']:.4f} [{found['low']:.4f}, {found['high']:.4f}]" if found else "–"


def _best_model(out: Path, scores: dict[str, Any]) -> Path:
    """The model of the seed that was best on validation."""
    name = "scratch" if scores["verdict"]["effect"] == "hurts" else "pretrained"
    system = next(system for system in scores["systems"] if system["name"] == name)
    best = max(system["seeds"], key=lambda seed: float(seed["valid_accuracy"]))
    return out / "arms" / f"{name}-seed-{best['seed']}"

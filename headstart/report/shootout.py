"""scores.json of a shoot-out to report.html: one page that needs nothing beside it."""

import json
import shlex
from pathlib import Path

import matplotlib.style
import tomli_w
from markupsafe import Markup

from headstart.report.comparison import Looks, Table, draw_accuracies, draw_epochs, draw_label_curve
from headstart.report.inline import LETTERS
from headstart.report.page import environment, write_whole
from headstart.report.style import BLUE, GREEN, ORANGE, PURPLE, QUIET, look

LOOKS: Looks = {
    "causal": (BLUE, "o", "-"),
    "masked": (ORANGE, "s", "-"),
    "bert": (GREEN, "D", "-"),
    "scratch-causal": (BLUE, "X", ":"),
    "scratch-bidirectional": (ORANGE, "P", ":"),
    "characters": (PURPLE, "^", "--"),
    "words": (PURPLE, "v", ":"),
    "majority": (QUIET, "d", "-."),
}


def write_shootout(scores: Path, out: Path) -> None:
    write_whole(out, shootout_page(json.loads(scores.read_text("utf-8")), out.parent))


def shootout_page(scores: Table, folder: Path) -> str:
    """The page's text; `folder` is where the shoot-out lies, for the commands shown."""
    systems = {system["name"]: system for system in scores["systems"]}
    return (
        environment()
        .get_template("shootout.html")
        .render(
            scores=scores,
            systems=scores["systems"],
            main=[systems[name] for name in (*scores["objectives"], scores["best_classic"])],
            short={name: system["short"] for name, system in systems.items()},
            figures=_figures(scores),
            settings=tomli_w.dumps(scores["settings"]),
            commands=_commands(scores, folder),
        )
    )


def _figures(scores: Table) -> dict[str, Markup]:
    with look(), matplotlib.style.context(LETTERS):
        drawn = {
            "accuracy": draw_accuracies(scores["systems"], LOOKS),
            "epochs": draw_epochs(scores["by_epoch"], scores["systems"], LOOKS),
        }
        if scores["label_curve"]:
            drawn["labels"] = draw_label_curve(scores["label_curve"], LOOKS)
    return drawn


def _commands(scores: Table, folder: Path) -> list[tuple[str, str]]:
    """What to type to get this page again, and to go on from it."""
    leader = scores["verdict"]["leader"]
    seeds = next(system for system in scores["systems"] if system["name"] == leader)["seeds"]
    best = max(seeds, key=lambda seed: float(seed["valid_accuracy"]))
    model, run = folder / "arms" / f"{leader}-seed-{best['seed']}", folder / leader
    parts = {name: ":".join(file["name"] for file in part["files"]) for name, part in scores["data"].items()}
    labelled = [parts["train"], "--from", str(run), "--valid", parts["valid"], "--test", parts["test"]]
    return [
        ("this shoot-out", scores["command"] or "headstart shootout --help"),
        ("the best model at work (the seed that was best on validation)", f"headstart predict {_quoted(model)} FILE"),
        (
            f"what pretraining was worth to {leader}, against scratch",
            shlex.join(["headstart", "compare", *labelled, "--out", "runs/compare"]),
        ),
    ]


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))

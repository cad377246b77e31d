"""scores.json to report.html: one page that needs nothing beside it."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from headstart.errors import RunError
from headstart.evaluate.phrases import bracket, duration, probability, signed
from headstart.evaluate.significance import Interval
from headstart.report.comparison import figures
from headstart.report.visible import visible

MOST_CLASSES = 12  # in a confusion matrix that a person can read
Table = Mapping[str, Any]


def write_page(scores: Path, out: Path) -> None:
    """The report of a comparison."""
    write_whole(out, page(json.loads(scores.read_text("utf-8")), out.parent))


def write_whole(out: Path, page: str) -> None:
    """Whole or not at all."""
    aside = out.with_name(out.name + ".new")
    try:
        aside.write_text(page, "utf-8")
        aside.replace(out)
    except OSError as problem:
        aside.unlink(missing_ok=True)
        raise RunError(f"{out}: the report cannot be written: {problem.strerror}") from None


def page(scores: Table, folder: Path) -> str:
    """The page's text; `folder` is where the comparison lies, for the commands shown."""
    names = {system["name"]: system for system in scores["systems"]}
    main = [names[name] for name in ("pretrained", "scratch", scores["best_classic"])]
    return (
        environment()
        .get_template("compare.html")
        .render(
            scores=scores,
            figures=figures(scores),
            systems=scores["systems"],
            main=main,
            short={name: system["short"] for name, system in names.items()},
            matrices=[(system, _matrix(system, scores["labels"])) for system in main],
            confusions=_confusions(main[0], scores["labels"]) if len(scores["labels"]) > MOST_CLASSES else [],
            settings=tomli_w.dumps(scores["settings"]),
            commands=_commands(scores, folder),
        )
    )


def environment() -> Environment:
    """What turns a template of this folder into a page; every text in it is made visible and escaped."""
    made = Environment(
        loader=PackageLoader("headstart", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "bracket": _bracket,
        "signed": signed,
        "duration": duration,
        "probability": probability,
    }
    return made


def _shown(value: Any) -> Any:
    """Every text that reaches the page passes here, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _bracket(table: Table) -> str:
    return bracket(Interval(table["value"], table["low"], table["high"]))


def _matrix(system: Table, labels: list[str]) -> list[dict[str, Any]]:
    """Rows of a confusion matrix: of the texts of a class, the share that was called each class."""
    if len(labels) > MOST_CLASSES:
        return []
    rows = []
    for i, (label, counts) in enumerate(zip(labels, system["confusion"])):
        total = max(1, sum(counts))
        cells = [{"share": count / total, "right": i == j} for j, count in enumerate(counts)]
        rows.append({"label": label, "texts": sum(counts) // len(system["seeds"]), "cells": cells})
    return rows


def _confusions(system: Table, labels: list[str], most: int = 12) -> list[dict[str, Any]]:
    """Where there are too many classes for a matrix: what is most often taken for what."""
    found = [
        {"label": labels[i], "called": labels[j], "share": count / max(1, sum(counts))}
        for i, counts in enumerate(system["confusion"])
        for j, count in enumerate(counts)
        if i != j and count
    ]
    return sorted(found, key=lambda each: -each["share"])[:most]


def _commands(scores: Table, folder: Path) -> list[tuple[str, str]]:
    """What to type to get this page again, and to go on from it."""
    parts = {name: ":".join(file["name"] for file in part["files"]) for name, part in scores["data"].items()}
    checked = [word for name, spec in parts.items() for word in (f"--{name}", spec)]
    best = max(
        next(s for s in scores["systems"] if s["name"] == "pretrained")["seeds"], key=lambda s: s["valid_accuracy"]
    )
    model = str(folder / "arms" / f"pretrained-seed-{best['seed']}")
    return [
        ("this comparison", scores["command"] or "headstart compare --help"),
        ("what leaks, with examples", shlex.join(["headstart", "check", "data", *checked])),
        (
            "the model at work (the seed that was best on validation)",
            shlex.join(["headstart", "predict", model, "FILE"]),
        ),
    ]

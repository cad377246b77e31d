"""How the systems of a comparison got where they are: by epoch, by number of labels, by the clock."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from headstart.evaluate.phrases import duration, points
from headstart.evaluate.significance import Interval, accuracy_interval, mean_interval
from headstart.evaluate.worth import labels_worth, time_saved, typical, worth_sentence
from headstart.recipes.comparing.arms import Table
from headstart.recipes.running.run_file import phases
from headstart.train.keeping import MEMORY

Course = Mapping[int, Sequence[Table]]  # for each seed, the record of each epoch


def by_epoch(courses: Mapping[str, Course]) -> Table:
    """Validation accuracy after each epoch: mean, lowest and highest seed; and how far pretrained is ahead.

    The interval of the lead is Student's over the pairs of seeds, on these validation texts.
    """
    table: Table = {name: epoch_means(course) for name, course in courses.items()}
    first, second = courses["pretrained"], courses["scratch"]
    leads = []
    for number in range(1, min(_longest(first), _longest(second)) + 1):
        gaps = [
            first[seed][number - 1]["accuracy"] - second[seed][number - 1]["accuracy"]
            for seed in sorted(first.keys() & second.keys())
            if min(len(first[seed]), len(second[seed])) >= number
        ]
        if gaps:
            leads.append((number, mean_interval(gaps)))
    table["lead"] = [{"epoch": number, **_open_ends(lead)} for number, lead in leads]
    table["sentence"] = _lead_sentence(leads)
    return table


def label_curve(rights: Mapping[str, Mapping[int, np.ndarray]], everything: int) -> Table | None:
    """Test accuracy by number of labels; None where no --label-counts were asked for."""
    if len(rights["pretrained"]) < 2:
        return None
    curves = accuracy_curves(rights)
    worth = labels_worth(rights["scratch"], rights["pretrained"])
    points_of = [
        {**asdict(each), "needed": _closed(each.needed), "low": _closed(each.low), "high": _closed(each.high)}
        for each in worth
    ]
    return {"everything": everything, "curves": curves, "worth": points_of, "sentence": worth_sentence(worth)}


def accuracy_curves(rights: Mapping[str, Mapping[int, np.ndarray]]) -> Table:
    """For each system that was trained on fewer labels too, its test accuracy by their number."""
    return {
        name: [{"labels": n, "seeds": len(right), **asdict(accuracy_interval(right))} for n, right in found.items()]
        for name, found in rights.items()
        if len(found) > 1
    }


def saved_time(courses: Mapping[str, Course], run: Path) -> Table:
    """When pretrained was as good as scratch at its best, and what the pretraining had cost before."""
    curves = {
        name: {seed: [(e["seconds"], e["accuracy"]) for e in epochs] for seed, epochs in course.items()}
        for name, course in courses.items()
    }
    by_seed = time_saved(curves["scratch"], curves["pretrained"])
    found = typical(by_seed)
    cost = pretraining_cost(run)
    return {
        "typical": found,
        "by_seed": [asdict(each) for each in by_seed],
        "pretraining": cost,
        "sentence": _time_sentence(found, cost),
    }


def epoch_means(course: Course) -> list[Table]:
    """Validation accuracy after each epoch: mean, lowest and highest seed."""
    found = []
    for number in range(1, _longest(course) + 1):
        here = [epochs[number - 1] for epochs in course.values() if len(epochs) >= number]
        accuracies = [epoch["accuracy"] for epoch in here]
        found.append(
            {
                "epoch": number,
                "mean": float(np.mean(accuracies)),
                "lowest": min(accuracies),
                "highest": max(accuracies),
                "seeds": len(here),
                "seconds": float(np.mean([epoch["seconds"] for epoch in here])),
            }
        )
    return found


def _longest(course: Course) -> int:
    return max(len(epochs) for epochs in course.values())


def _lead_sentence(leads: Sequence[tuple[int, Interval]]) -> str:
    (first, at_first), (last, at_last) = leads[0], leads[-1]
    if math.isinf(at_last.low):
        end = "one seed cannot say whether that is more than luck"
    elif at_last.low > 0:
        end = "the pretrained model stays ahead"
    elif at_last.high < 0:
        end = "scratch has overtaken the pretrained model"
    else:
        end = "by then the two cannot be told apart"
    if first == last:
        return f"On validation, pretrained minus scratch is {points(at_last)} after the only epoch: {end}."
    return (
        f"On validation, pretrained minus scratch is {points(at_first)} after the first epoch "
        f"and {points(at_last)} after epoch {last}: {end}."
    )


def _time_sentence(found: Mapping[str, float], cost: Table | None) -> str:
    epochs = f"{found['scratch_epoch']:g} epoch{'s' if found['scratch_epoch'] != 1 else ''}"
    scratch = f"Scratch is best after {epochs} ({duration(found['scratch_seconds'])})"
    if not found["passed"]:
        sentence = f"{scratch}; the pretrained model never gets there."
    else:
        epoch, often = found["pretrained_epoch"], f"{found['passed']:g} of {found['seeds']:g} seeds"
        sentence = (
            f"{scratch}; the pretrained model is as good after {epoch:g} epoch{'s' if epoch != 1 else ''} "
            f"({duration(found['pretrained_seconds'])}, in {often})."
        )
    return f"{sentence} Pretraining took {duration(cost['seconds'])}." if cost else sentence


def pretraining_cost(run: Path) -> Table | None:
    """What all phases of the pretraining have cost; None where one kept no state, such as an imported run."""
    costs = [_phase(each) for each in phases(run)]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    return {name: sum(cost[name] for cost in known) for name in ("step", "tokens", "seconds")}


def _phase(run: Path) -> Table | None:
    for name in ("last", "last.old"):
        try:
            memory = json.loads((run / name / MEMORY).read_text("utf-8"))
            return {name: memory[name] for name in ("step", "tokens", "seconds")}
        except (OSError, ValueError, KeyError):
            continue
    return None


def _open_ends(found: Interval) -> Table:
    """JSON knows no infinity: null where one seed leaves the end open."""
    return {"value": found.value, "low": _closed(found.low), "high": _closed(found.high)}


def _closed(value: float) -> float | None:
    return None if math.isinf(value) else value

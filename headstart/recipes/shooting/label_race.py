"""Which objective leads with how many labels, and where the lead is more than chance."""

from collections.abc import Mapping, Sequence

import numpy as np

from headstart.evaluate.phrases import listed, points, size
from headstart.evaluate.significance import Interval, paired
from headstart.recipes.comparing.arms import Table
from headstart.recipes.comparing.courses import accuracy_curves
from headstart.recipes.comparing.systems import plain

Rights = Mapping[str, Mapping[int, np.ndarray]]


def label_race(rights: Rights, objectives: Sequence[str], everything: int) -> Table | None:
    """Test accuracy by number of labels, and who leads there; None where no --label-counts were asked for."""
    counts = sorted(rights[objectives[0]])
    if len(counts) < 2:
        return None
    leads = [_lead(rights, objectives, labels) for labels in counts]
    return {
        "everything": everything,
        "curves": accuracy_curves(rights),
        "leads": leads,
        "sentence": _sentence(leads),
    }


def _lead(rights: Rights, objectives: Sequence[str], labels: int) -> Table:
    """The best with so many labels, against the second best."""
    first, second, *_ = sorted(objectives, key=lambda name: -rights[name][labels].mean())
    gap = paired(rights[first][labels], rights[second][labels])
    return {"labels": labels, "leader": first, "next": second, **plain(gap)}


def _sentence(leads: Sequence[Table]) -> str:
    sure = [lead for lead in leads if _gap(lead).sure]
    if not sure:
        widest = max(leads, key=lambda lead: float(lead["difference"]["value"]))
        return (
            f"With no number of labels is the first surely ahead of the second; the widest lead, {widest['leader']} "
            f"over {widest['next']} with {widest['labels']:,} labels, is {points(_gap(widest))}."
        )
    said = [f"with {each['labels']:,} {each['leader']} leads {each['next']} by {size(_gap(each))}" for each in sure]
    sentence = f"By the number of labels: {listed(said)}"
    level = [f"{lead['labels']:,}" for lead in leads if lead not in sure]
    return f"{sentence}; with {listed(level)} the first two cannot be told apart." if level else f"{sentence}."


def _gap(lead: Table) -> Interval:
    return Interval(**lead["difference"])

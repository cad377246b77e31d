"""Which objective leads with how many labels, and where the lead is more than chance."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from headstart.evaluate.phrases import listed, points, size
from headstart.evaluate.rivals import adjusted_p, is_sure
from headstart.evaluate.significance import Interval, Paired, paired
from headstart.recipes.comparing.arms import Table
from headstart.recipes.comparing.courses import accuracy_curves
from headstart.recipes.comparing.systems import plain

Rights = Mapping[str, Mapping[int, np.ndarray]]
Key = tuple[int, str, str]  # a number of labels, and two objectives


def label_race(rights: Rights, objectives: Sequence[str], everything: int) -> Table | None:
    """Test accuracy by number of labels, and who leads there; None where no --label-counts were asked for.

    Every pair of objectives is tested with every number of labels, and p adjusted for all these tests.
    """
    counts = sorted(rights[objectives[0]])
    if len(counts) < 2:
        return None
    orders = {labels: sorted(objectives, key=lambda name: -rights[name][labels].mean()) for labels in counts}
    gaps = {
        (labels, *pair): paired(rights[pair[0]][labels], rights[pair[1]][labels])
        for labels, order in orders.items()
        for pair in combinations(order, 2)
    }
    adjusted = adjusted_p(gaps)
    leads = [_lead(labels, order, gaps, adjusted) for labels, order in orders.items()]
    return {
        "everything": everything,
        "curves": accuracy_curves(rights),
        "leads": leads,
        "sentence": _sentence(leads),
    }


def _lead(labels: int, order: Sequence[str], gaps: Mapping[Key, Paired], adjusted: Mapping[Key, float]) -> Table:
    """The best with so many labels, against the second best."""
    key = (labels, order[0], order[1])
    return {"labels": labels, "leader": key[1], "next": key[2], **plain(gaps[key]), "p_adjusted": adjusted[key]}


def _sentence(leads: Sequence[Table]) -> str:
    sure = [lead for lead in leads if is_sure(_gap(lead), lead["p_adjusted"])]
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

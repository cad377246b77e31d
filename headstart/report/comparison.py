"""The figures of a comparison, from the numbers in scores.json."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.style
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from headstart.report.inline import INCHES, LETTERS, blank, inline
from headstart.report.style import BLUE, GREEN, INK, ORANGE, QUIET, look, panel

Table = Mapping[str, Any]
Looks = Mapping[str, tuple[str, str, str]]  # of each system the colour, the marker and the line
LOOKS: Looks = {
    "pretrained": (BLUE, "o", "-"),
    "scratch": (ORANGE, "s", "-"),
    "characters": (GREEN, "^", "--"),
    "words": (GREEN, "v", ":"),
    "majority": (QUIET, "d", "-."),
}
LEFT, RIGHT = 0.62, 0.16  # inches


def figures(scores: Table) -> dict[str, Markup]:
    """All that this comparison has; what was not asked for is not in it."""
    with look(), matplotlib.style.context(LETTERS):
        drawn = {
            "accuracy": draw_accuracies(scores["systems"]),
            "epochs": draw_epochs(scores["by_epoch"], scores["systems"]),
            "lead": draw_lead(scores["by_epoch"]["lead"]),
            "reliability": draw_reliability(_main_systems(scores)),
            "abstention": draw_abstention(_main_systems(scores)),
        }
        if scores["label_curve"]:
            drawn["labels"] = draw_label_curve(scores["label_curve"])
    return drawn


def draw_accuracies(systems: Sequence[Table], looks: Looks = LOOKS) -> Markup:
    """Each system's test accuracy as a dot with its interval; its seeds as small rings."""
    shown = [system for system in systems if system["name"] != "majority"]
    figure = blank(0.55 + 0.62 * len(shown))
    axes = panel(figure, RIGHT, 0.05, INCHES - 2 * RIGHT, 0.62 * len(shown))
    lows = [min(s["accuracy"]["low"], *(seed["accuracy"] for seed in s["seeds"])) for s in shown]
    highs = [max(s["accuracy"]["high"], *(seed["accuracy"] for seed in s["seeds"])) for s in shown]
    margin = 0.06 * (max(highs) - min(lows)) + 0.002
    axes.set(xlim=(min(lows) - margin, max(highs) + margin), ylim=(len(shown) - 0.35, -0.65), yticks=[])
    for row, system in enumerate(shown):
        _draw_accuracy(axes, row, system, looks)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.grid(True, axis="x")
    axes.set_xlabel("accuracy on the test texts")
    return inline(
        figure, "accuracy", "Test accuracy of each system with its 95 % interval; the numbers stand in the table"
    )


def _draw_accuracy(axes: Axes, row: int, system: Table, looks: Looks) -> None:
    colour, marker, _ = looks[system["name"]]
    found = system["accuracy"]
    axes.plot([found["low"], found["high"]], [row, row], color=colour, linewidth=6, alpha=0.3, solid_capstyle="butt")
    if len(system["seeds"]) > 1:
        seeds = [seed["accuracy"] for seed in system["seeds"]]
        axes.plot(
            seeds, [row] * len(seeds), "o", markersize=4, markerfacecolor="none", markeredgecolor=colour, alpha=0.8
        )
    axes.plot(found["value"], row, marker, color=colour, markersize=8, markeredgecolor="white", markeredgewidth=0.8)
    left, right = axes.get_xlim()
    axes.text(left, row - 0.3, system["short"], color=colour, weight="bold", va="bottom")
    text = f"{found['value']:.3f}  [{found['low']:.3f}, {found['high']:.3f}]"
    axes.text(right, row - 0.3, text, color=INK, ha="right", va="bottom")


def draw_epochs(table: Table, systems: Sequence[Table], looks: Looks = LOOKS) -> Markup:
    """Validation accuracy after each epoch: the mean as a line, from the lowest to the highest seed as a band."""
    figure = blank(3.3)
    axes = panel(figure, LEFT, 0.1, INCHES - LEFT - RIGHT, 2.6)
    for system in systems:
        colour, marker, dash = looks[system["name"]]
        if not system["neural"]:
            axes.axhline(system["valid_accuracy"], color=colour, linestyle=dash, linewidth=1.4)
            continue
        course = table[system["name"]]
        epochs = [each["epoch"] for each in course]
        low, high = [each["lowest"] for each in course], [each["highest"] for each in course]
        axes.fill_between(epochs, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(epochs, [each["mean"] for each in course], marker + "-", color=colour, markeredgecolor="white")
    _whole_epochs(axes, max(len(table[system["name"]]) for system in systems if system["neural"]))
    axes.set_ylabel("validation accuracy")
    return inline(figure, "epochs", "Validation accuracy by epoch of each model, baselines as level lines")


def draw_lead(lead: Sequence[Table]) -> Markup:
    """How many points pretrained is ahead after each epoch, with Student's interval over the pairs of seeds."""
    figure = blank(3.3)
    axes = panel(figure, LEFT, 0.1, INCHES - LEFT - RIGHT, 2.6)
    axes.axhline(0, color=QUIET, linewidth=1.2)
    epochs, values = [each["epoch"] for each in lead], [100 * each["value"] for each in lead]
    if all(each["low"] is not None for each in lead):
        low, high = [100 * each["low"] for each in lead], [100 * each["high"] for each in lead]
        axes.fill_between(epochs, low, high, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(epochs, values, "o-", color=BLUE, markeredgecolor="white")
    _whole_epochs(axes, epochs[-1])
    axes.set_ylabel("points ahead of scratch")
    return inline(figure, "lead", "How far the pretrained model is ahead of scratch after each epoch")


def draw_label_curve(table: Table, looks: Looks = LOOKS) -> Markup:
    """Test accuracy by number of labels, with intervals, over the logarithm of the labels."""
    figure = blank(3.3)
    axes = panel(figure, LEFT, 0.1, INCHES - LEFT - RIGHT, 2.6)
    curves = [(name, table["curves"][name]) for name in looks if name in table["curves"]]
    for place, (name, curve) in enumerate(curves):
        colour, marker, dash = looks[name]
        aside = 1.02 ** (place - (len(curves) - 1) / 2)  # so that intervals do not cover each other
        labels = [each["labels"] * aside for each in curve]
        values = [each["value"] for each in curve]
        axes.vlines(
            labels, [p["low"] for p in curve], [p["high"] for p in curve], color=colour, alpha=0.35, linewidth=3
        )
        axes.plot(labels, values, color=colour, linestyle=dash, marker=marker, markeredgecolor="white")
    counts = [each["labels"] for each in curves[0][1]]
    axes.set(xscale="log", xlim=(counts[0] / 1.3, counts[-1] * 1.3), xlabel="labels", ylabel="test accuracy")
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.grid(True)
    return inline(figure, "labels", "Test accuracy by number of labels; the numbers stand in the table")


def draw_reliability(systems: Sequence[Table]) -> Markup:
    """Confidence against accuracy: on the diagonal, probabilities mean what they say."""
    figure = blank(3.3)
    axes = panel(figure, LEFT, 0.1, INCHES - LEFT - RIGHT, 2.6)
    axes.plot([0, 1], [0, 1], color=QUIET, linewidth=1.0, linestyle=":")
    for system in systems:
        colour, marker, dash = LOOKS[system["name"]]
        bins = system["bins"]
        axes.plot([b["confidence"] for b in bins], [b["accuracy"] for b in bins], color=colour, linestyle=dash)
        sizes = [16 + 90 * b["texts"] / sum(b["texts"] for b in bins) for b in bins]
        points = [b["confidence"] for b in bins], [b["accuracy"] for b in bins]
        axes.scatter(*points, s=sizes, c=colour, marker=marker, zorder=3)
    least = min(b["confidence"] for system in systems for b in system["bins"])
    lowest = min(b["accuracy"] for system in systems for b in system["bins"])
    axes.set(xlim=(least - 0.02, 1.01), ylim=(max(0.0, min(least, lowest) - 0.04), 1.02))
    axes.set(xlabel="how sure the system was", ylabel="how often it was right")
    axes.grid(True)
    return inline(figure, "reliability", "Confidence against accuracy; on the diagonal the probabilities are true")


def draw_abstention(systems: Sequence[Table]) -> Markup:
    """Accuracy on the share of texts that are answered when the least sure ones are left to a person."""
    figure = blank(3.3)
    axes = panel(figure, LEFT, 0.1, INCHES - LEFT - RIGHT, 2.6)
    for system in systems:
        colour, marker, dash = LOOKS[system["name"]]
        curve = system["abstention"]
        coverage, accuracy = [100 * each["coverage"] for each in curve], [each["accuracy"] for each in curve]
        axes.plot(coverage, accuracy, color=colour, linestyle=dash, marker=marker, markeredgecolor="white")
    axes.set(xlabel="% of the texts answered, the surest first", ylabel="accuracy on these", xlim=(102, 5))
    axes.grid(True)
    return inline(figure, "abstention", "Accuracy against the share of texts answered")


def _main_systems(scores: Table) -> list[Table]:
    names = (*("pretrained", "scratch"), scores["best_classic"])
    return [system for system in scores["systems"] if system["name"] in names]


def _whole_epochs(axes: Axes, last: int) -> None:
    axes.set_xlim(0.7, last + 0.3)
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    axes.set_xlabel("epoch")
    axes.grid(True)

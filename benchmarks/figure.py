"""The picture of a side-by-side run: each contender's rate beside Hugging Face's, with its spread."""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.areas import HUGGING_FACE, LAB, OURS
from headstart.report.style import BLUE, GREEN, INK, ORANGE, look, panel, save, sheet

COLOURS = {OURS: BLUE, LAB: ORANGE, HUGGING_FACE: INK}


def draw(found: dict[str, Any], out: Path) -> None:
    """A bar for each contender in each area; a line from its least to its greatest ratio."""
    bars = [
        (area, name, *_ratios(results["results"], name))
        for area, results in found["areas"].items()
        for name in results["results"]
    ]
    height = 1.4 + 0.24 * len(bars) + 0.2 * len(found["areas"])
    with look():
        figure = sheet(
            height,
            "Work a second, beside Hugging Face",
            "1 is Hugging Face in the same run; lines go from the least to the greatest repeat",
        )
        axes = panel(figure, 3.6, 0.9, 6.0, height - 1.4)
        place, places, names, before = 0.0, [], [], ""
        for area, name, middle, least, most in bars:
            place -= 1.8 if area != before and before else 1.0
            before = area
            axes.barh(place, middle, 0.8, color=COLOURS.get(name, GREEN))
            axes.plot([least, most], [place, place], color=INK, linewidth=1)
            axes.text(most, place, f"  {middle:.2f}", va="center")
            places.append(place)
            names.append(f"{area}: {name}")
        axes.set_yticks(places, names)
        axes.axvline(1, color=INK, linewidth=0.8)
        save(figure, out)


def _ratios(results: dict[str, Any], name: str) -> tuple[float, float, float]:
    other = results.get(HUGGING_FACE, results[name])
    found = [mine / theirs for mine, theirs in zip(results[name]["rates"], other["rates"])]
    return median(found), min(found), max(found)

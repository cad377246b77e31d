"""Results in lines that a person reads: rates, ratios to the peers with their spread, memory, share of the limit."""

from collections.abc import Iterator, Mapping
from statistics import median

from benchmarks.areas import HUGGING_FACE, LAB, Area
from benchmarks.side_by_side import Result

WIDTHS = (26, 12, 22, 22, 12, 10)


def ratios(result: Result, other: Result) -> list[float]:
    """Repeat by repeat: both were measured next to each other."""
    return [mine / theirs for mine, theirs in zip(result.rates, other.rates)]


def spread(values: list[float]) -> str:
    """The median, and from the least to the most."""
    return f"{median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


def lines(area: Area, results: Mapping[str, Result], limit: float) -> Iterator[str]:
    yield _line(area.name, area.unit, "× the lab's loop", "× Hugging Face", "memory, MB", "of limit")
    for name, result in results.items():
        beside = [spread(ratios(result, results[peer])) if peer in results else "–" for peer in (LAB, HUGGING_FACE)]
        rate = median(result.rates)
        yield _line(f"  {name}", f"{rate:,.0f}", *beside, f"{result.memory / 1e6:,.0f}", f"{rate / limit:.0%}")


def _line(*cells: str) -> str:
    return cells[0].ljust(WIDTHS[0]) + "".join(cell.rjust(width) for cell, width in zip(cells[1:], WIDTHS[1:]))

"""The picture of what three kinds of layer cost, and of what the mask saves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from headstart.report.style import BLUE, GREEN, ORANGE, QUIET, look, panel, picture_path, save, sheet

LOOKS = {"self-attention": (BLUE, "o"), "recurrent": (ORANGE, "s"), "convolution": (GREEN, "^")}
GROWS = {"n": "n tokens: longer texts", "d": "d features: wider layers", "k": "k tokens: wider kernels"}


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What one kind of layer costs while one size grows and the others, `fixed`, stand still."""

    layer: str
    grows: str  # n, d or k
    fixed: dict[str, int]
    sizes: tuple[int, ...]
    flops: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def counted(self) -> float:
        return exponent(self.sizes, self.flops)

    @property
    def measured(self) -> float:
        return exponent(self.sizes, self.seconds)


@dataclass(frozen=True, kw_only=True)
class Passes:
    """One masked pass over a text of `tokens` against a pass for each of its beginnings."""

    tokens: int
    one_pass: float  # seconds
    many_passes: float  # seconds
    difference: float  # the largest between their outputs

    @property
    def times_faster(self) -> float:
        return self.many_passes / self.one_pass


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope of the straight line, by least squares, through the logarithms."""
    slope, _ = np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(values, dtype=float)), 1)
    return float(slope)


def draw_costs(curves: Sequence[Curve], passes: Sequence[Passes], out: Path) -> None:
    """Operations above, times in the middle, a column for each size that grows; below, what the mask saves."""
    picture_path(out)
    title = "Attention pays for long texts, recurrence and convolution for wide layers"
    reading = (
        "Straight lines on these logarithmic axes are powers; the exponent, fitted by least squares, stands "
        "beside each name.\nForward passes on one thread, projections left out; each time is the least of several."
    )
    counts = [Line(curve, curve.flops, curve.counted) for curve in curves]
    times = [Line(curve, _milliseconds(curve.seconds), curve.measured) for curve in curves]
    with look():
        figure = sheet(9.5, title, reading)
        _draw_row(figure, 1.4, counts, "operations, counted", _with_unit)
        _draw_row(figure, 3.95, times, "milliseconds, measured", _plain)
        for axes, name in zip(figure.axes, GROWS.values()):
            axes.set_title(name)
        _draw_passes(panel(figure, 0.85, 7.0, 4.3, 1.9), passes)
        _draw_gain(panel(figure, 6.0, 7.0, 3.7, 1.9), passes)
        save(figure, out)


@dataclass(frozen=True)
class Line:
    """Points of a curve, and the exponent fitted to them."""

    curve: Curve
    values: Sequence[float]
    power: float


def _draw_row(figure: Figure, top: float, lines: Sequence[Line], unit: str, name: Callable[[float], str]) -> None:
    """A panel for each size that grows, all of one height, with room above for the names."""
    least, most = min(min(line.values) for line in lines), max(max(line.values) for line in lines)
    span = np.log10(most / least)
    for column, grows in enumerate(GROWS):
        axes = panel(figure, 0.85 + column * 3.15, top, 2.55, 2.05)
        shown = [line for line in lines if line.curve.grows == grows]
        _make_logarithmic(axes, shown[0].curve.sizes, name)
        axes.set_ylim(least / 10 ** (0.12 * span), most * 10 ** (0.28 * span))
        _draw_powers(axes, shown)
        axes.set_xlabel(grows)
        if column == 0:
            axes.set_ylabel(unit)


def _draw_powers(axes: Axes, lines: Sequence[Line]) -> None:
    """Points as they are, the fitted power through them, and its exponent in the empty upper left corner."""
    for row, line in enumerate(lines):
        colour, marker = LOOKS[line.curve.layer]
        sizes = np.asarray(line.curve.sizes, dtype=float)
        height = np.exp(np.mean(np.log(line.values)) - line.power * np.mean(np.log(sizes)))
        axes.plot(sizes, height * sizes**line.power, color=colour, linewidth=1.3, alpha=0.7)
        axes.plot(sizes, line.values, marker, color=colour, markeredgecolor="white", markeredgewidth=0.6)
        name = f"{line.curve.layer}: {line.curve.grows}^{line.power:.2f}"
        _note(axes, 0.03, 0.97 - 0.09 * row, name, color=colour, va="top")
    fixed = ", ".join(f"{name} = {size}" for name, size in lines[-1].curve.fixed.items())
    _note(axes, 0.98, 0.03, fixed, color=QUIET, ha="right", va="bottom")


def _draw_passes(axes: Axes, passes: Sequence[Passes]) -> None:
    tokens = [each.tokens for each in passes]
    _make_logarithmic(axes, tokens, _plain)
    one = _milliseconds([each.one_pass for each in passes])
    many = _milliseconds([each.many_passes for each in passes])
    axes.plot(tokens, many, "s-", color=ORANGE, markeredgecolor="white")
    axes.plot(tokens, one, "o-", color=BLUE, markeredgecolor="white")
    middle = len(tokens) // 2
    for name, values, colour in (("a pass for each beginning", many, ORANGE), ("one masked pass", one, BLUE)):
        axes.annotate(
            name, (tokens[middle], values[middle]), (-6, 7), textcoords="offset points", color=colour, ha="right"
        )
    axes.set_ylim(min(one) / 2, max(many) * 3)
    axes.set(title="The mask: all predictions of a text in one pass", xlabel="tokens in the text")
    axes.set_ylabel("milliseconds, measured")


def _draw_gain(axes: Axes, passes: Sequence[Passes]) -> None:
    gains = [each.times_faster for each in passes]
    bars = axes.bar(range(len(gains)), gains, width=0.62, color=BLUE)
    axes.bar_label(bars, [f"×{gain:.0f}" for gain in gains], padding=2)
    axes.set_xticks(range(len(gains)), [str(each.tokens) for each in passes])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set(title="How many times faster", xlabel="tokens in the text", ylim=(0, 1.15 * max(gains)))
    worst = f"{max(each.difference for each in passes):.0e}".replace("e-0", "e-").replace("-", "−")
    _note(axes, 0.0, 0.97, f"outputs differ by at most {worst}", color=QUIET, va="top")


def _make_logarithmic(axes: Axes, sizes: Sequence[int], name: Callable[[float], str]) -> None:
    axes.set(xscale="log", yscale="log", xlim=(sizes[0] / 1.25, sizes[-1] * 1.25))
    axes.xaxis.set_major_locator(FixedLocator(list(sizes)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _plain(size)))
    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: name(value)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.grid(True)


def _note(axes: Axes, across: float, up: float, text: str, **settings: Any) -> None:
    """Text at a fixed place in the panel, on white, so that no grid line runs through it."""
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    axes.text(across, up, text, size=8.5, transform=axes.transAxes, bbox=white, **settings)


def _with_unit(value: float) -> str:
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.999 * unit:
            return f"{value / unit:g} {letter}"
    return f"{value:g}"


def _plain(value: float) -> str:
    return f"{value:.10g}"


def _milliseconds(seconds: Sequence[float]) -> list[float]:
    return [1e3 * each for each in seconds]

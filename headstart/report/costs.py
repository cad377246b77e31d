"""The picture of what three kinds of layer cost, and of what the mask saves."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from headstart.report.style import BLUE, GREEN, ORANGE, QUIET, look, panel, picture_path, save, sheet

LOOKS = {"self-attention": (BLUE, "o"), "recurrent": (ORANGE, "s"), "convolution": (GREEN, "^")}
GROWS = {"n": "the text grows: n tokens", "d": "the layer widens: d features", "k": "the kernel widens: k tokens"}


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
    reading = (
        "Both axes of each picture are logarithmic: a straight line is a power law, and its slope the exponent "
        "written beside it.\nForward passes in float32, projections left out; the least of several times."
    )
    with look():
        figure = sheet(9.6, "Attention pays for long texts, recurrence and convolution for wide layers", reading)
        for column, grows in enumerate(GROWS):
            shown = [curve for curve in curves if curve.grows == grows]
            left = 0.75 + column * 3.15
            _draw_curves(panel(figure, left, 1.5, 2.45, 1.9), shown, [curve.flops for curve in shown], "counted")
            times = [[1e3 * second for second in curve.seconds] for curve in shown]
            _draw_curves(panel(figure, left, 4.2, 2.45, 1.9), shown, times, "measured")
        _draw_passes(panel(figure, 0.75, 7.0, 5.6, 1.9), passes)
        _draw_gain(panel(figure, 7.05, 7.0, 2.45, 1.9), passes)
        save(figure, out)


def _draw_curves(
    axes: Axes, curves: Sequence[Curve], values: Sequence[Sequence[float]], what: str
) -> None:
    pass


def _draw_passes(axes: Axes, passes: Sequence[Passes]) -> None:
    pass


def _draw_gain(axes: Axes, passes: Sequence[Passes]) -> None:
    pass

"""How every picture looks, and how it reaches the disk."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from headstart.errors import ConfigError

WIDTH = 10.0  # inches; a page shows it at about 1000 pixels, so that 9 points are 12 pixels
INK, QUIET, GRID = "#1f2933", "#5f6b7a", "#e3e7ec"
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"  # Okabe and Ito: told apart by all eyes
NOTHING = "#eef1f4"

AMOUNT = LinearSegmentedColormap.from_list("amount", ["#f6f9fb", "#a9d2ec", BLUE, "#062f4a"])
SIGNED = LinearSegmentedColormap.from_list("signed", ["#a34400", "#eda263", "#f6f9fb", "#62addb", "#00528a"])

LOOK: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,  # a token `$x$` is shown as it is
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "axes.titlepad": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": QUIET,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "image.composite_image": False,
    "svg.fonttype": "none",  # text stays text: found by a search, and drawn with the reader's own fonts
    "svg.hashsalt": "headstart",
    "pdf.fonttype": 42,
    "savefig.dpi": 150.0,
}

# What each format would otherwise write about the day and the machine.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "headstart"},
    ".png": {"Software": "headstart"},
    ".pdf": {"CreationDate": None, "Creator": "headstart", "Producer": None},
}


def picture_path(out: Path) -> Path:
    """`out`, if a picture can be written there; long jobs ask before they begin."""
    out = Path(out)
    if out.is_dir():
        raise ConfigError(f"{out}: this is a folder; type --out {out / 'picture.svg'}")
    if out.suffix.lower() not in METADATA:
        better = out.with_name(out.name + ".svg")
        raise ConfigError(f"{out}: a picture must end in {', '.join(METADATA)}; type --out {better}")
    if not out.parent.is_dir():
        raise ConfigError(f"{out}: there is no folder {out.parent}; type mkdir -p '{out.parent}' first")
    return out


@contextmanager
def look() -> Iterator[None]:
    """Draw with our settings only, whatever matplotlibrc says; a letter no font has is no reason to warn."""
    with matplotlib.style.context(LOOK, after_reset=True), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def sheet(height: float, title: str, reading: str, width: float = WIDTH) -> Figure:
    """An empty picture, in inches, with a sentence on what is seen and a line on how to read it."""
    figure = Figure(figsize=(width, height), facecolor="white")
    left = 0.2 / width
    figure.text(left, 1 - 0.2 / height, title, size=13, weight="bold", va="top")
    figure.text(left, 1 - 0.5 / height, reading, size=9, color=QUIET, va="top", linespacing=1.4)
    return figure


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes placed in inches from the upper left corner, so that nothing moves when labels grow."""
    across, down = figure.get_size_inches()
    return figure.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))


def save(figure: Figure, out: Path) -> None:
    """Write aside, then swap in: the file is whole or it is not there. Same input, same bytes."""
    out = picture_path(out)
    ending = out.suffix.lower()
    aside = out.with_name(f".{uuid4().hex}{ending}")
    try:
        figure.savefig(aside, format=ending[1:], metadata=METADATA[ending])
        aside.replace(out)
    except OSError as problem:
        raise ConfigError(f"{out}: the picture cannot be written: {problem.strerror}") from None
    finally:
        aside.unlink(missing_ok=True)

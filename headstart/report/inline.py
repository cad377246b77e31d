"""A figure as markup that stands inside a page and takes on its colours and letters, light or dark."""

import io
import re
from typing import Any

from markupsafe import Markup, escape
from matplotlib.figure import Figure

from headstart.report.style import BLUE, GREEN, GRID, INK, METADATA, NOTHING, ORANGE, PURPLE, QUIET

INCHES = 5.0  # a column of the page; a phone shows it at three quarters, so letters are drawn large
LETTERS: dict[str, Any] = {"font.size": 10.5, "xtick.labelsize": 10.0, "ytick.labelsize": 10.0, "axes.titlesize": 11.0}
NAMES = {
    INK: "ink",
    QUIET: "quiet",
    GRID: "grid",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    PURPLE: "purple",
    NOTHING: "nothing",
    "#ffffff": "paper",
}


def blank(height: float) -> Figure:
    """An empty figure, in inches, without a ground of its own."""
    return Figure(figsize=(INCHES, height), facecolor="none")


def inline(figure: Figure, name: str, says: str) -> Markup:
    """`name` keeps the ids of several figures in a page apart; `says` is read to those who cannot see it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=METADATA[".svg"])
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"<!--.*?-->", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'(\bid="|"#|url\(#)', rf"\g<1>{name}-", drawn)
    drawn = re.sub(r"font: (?:(bold) )?([\d.]+px) [^;\"]+", _font, drawn)
    for colour, variable in NAMES.items():
        drawn = drawn.replace(colour, f"var(--{variable})")
    size = r'<svg ([^>]*?)width="[\d.]+pt" height="[\d.]+pt"|<svg ([^>]*?)height="[\d.]+pt" ([^>]*?)width="[\d.]+pt"'
    opened = f'<svg role="img" aria-label="{escape(says)}" '
    return Markup(re.sub(size, lambda found: opened + " ".join(filter(None, found.groups())), drawn, count=1))


def _font(found: re.Match[str]) -> str:
    weight = "font-weight: 600; " if found[1] else ""
    return f"{weight}font-size: {found[2]}"

"""Pictures of the model: who may look at whom, where a token stands, and where each head looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap

from headstart.report.grids import Grid, draw_cells, draw_grids
from headstart.report.style import AMOUNT, BLUE, NOTHING, QUIET, SIGNED, look, panel, picture_path, save, sheet

LOOKING = "Each row is a token that looks; its weights over the columns, the tokens looked at, sum to one."


@dataclass(frozen=True, kw_only=True)
class Mask:
    """Who may look at whom (T, S), True where the row may look at the column; `labels` name the tokens.

    `columns` name those looked at, where they are others than those that look.
    """

    title: str
    allowed: np.ndarray
    labels: Sequence[str]
    columns: Sequence[str] = ()


def draw_masks(masks: Sequence[Mask], out: Path, *, title: str) -> None:
    """Several masks side by side."""
    picture_path(out)
    grids = [
        Grid(mask.title, np.asarray(mask.allowed, dtype=float), mask.labels, mask.columns or mask.labels)
        for mask in masks
    ]
    reading = "Each row is a token that looks, each column a token it may look at (blue) or not (grey)."
    colours = ListedColormap([NOTHING, BLUE])
    with look():
        figure = draw_grids(grids, most=3, title=title, reading=reading, colours=colours, largest=1.0, narrowest=6.0)
        save(figure, out)


def draw_mask(mask: np.ndarray, labels: Sequence[str], out: Path, *, title: str = "Who may look at whom") -> None:
    """One mask (T, T)."""
    draw_masks([Mask(title="", allowed=mask, labels=labels)], out, title=title)


def draw_attention(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], layer: int, out: Path) -> None:
    """The weights (H, T, S) of every head of one layer: T tokens, the rows, look at S tokens, the columns."""
    heads = np.asarray(weights, dtype=float)
    grids = [Grid(f"Head {number}", head, rows, columns) for number, head in enumerate(heads, start=1)]
    who = f"the {len(grids)} heads of layer {layer} look" if len(grids) > 1 else f"the head of layer {layer} looks"
    draw_weights(grids, out, title=f"Where {who}")


def draw_weights(grids: Sequence[Grid], out: Path, *, title: str, reading: str = LOOKING, most: int = 4) -> None:
    """Attention weights on one scale, at most `most` grids side by side; `reading` says how they are read."""
    picture_path(out)
    largest = max(1e-9, *(float(grid.values.max(initial=0.0)) for grid in grids))
    with look():
        figure = draw_grids(
            grids, most=most, title=title, reading=reading, colours=AMOUNT, largest=largest, narrowest=8.5
        )
        _draw_scale(panel(figure, figure.get_figwidth() - 1.8, 0.26, 1.6, 0.11), AMOUNT, 0, largest, "weight")
        save(figure, out)


def draw_positions(table: np.ndarray, similarity: np.ndarray, out: Path, *, title: str) -> None:
    """The encoding (T, D) as it is added, and how alike any two positions are, (T, T) cosines."""
    picture_path(out)
    reading = "Left: the vector of each position, a row each. Right: how alike the vectors of two positions are."
    largest = float(np.abs(table).max())
    with look():
        figure = sheet(6.3, title, reading)
        axes = panel(figure, 0.8, 1.3, 4.7, 4.4)
        draw_cells(axes, np.asarray(table, dtype=float), SIGNED, -largest, largest)
        axes.set(title="The encoding", xlabel="feature of the vector", ylabel="position in the text")
        _draw_scale(panel(figure, 3.9, 0.95, 1.6, 0.11), SIGNED, -largest, largest, "value")
        _draw_distance(panel(figure, 6.4, 1.3, 3.3, 1.65), np.asarray(similarity, dtype=float))
        axes = panel(figure, 6.4, 3.8, 1.9, 1.9)
        draw_cells(axes, np.asarray(similarity, dtype=float), SIGNED, -1, 1)
        axes.set(title="Any two positions", xlabel="position", ylabel="position")
        _draw_scale(panel(figure, 8.55, 3.8, 1.15, 0.11), SIGNED, -1, 1, "cosine")
        save(figure, out)


def _draw_distance(axes: Axes, similarity: np.ndarray) -> None:
    """One line where only the distance counts; a band from the least to the most alike where it does not."""
    diagonals = [np.diagonal(similarity, distance) for distance in range(len(similarity))]
    least, most = [values.min() for values in diagonals], [values.max() for values in diagonals]
    axes.fill_between(range(len(diagonals)), least, most, color=BLUE, alpha=0.2, linewidth=0)
    axes.plot([values.mean() for values in diagonals], color=BLUE)
    axes.axhline(0, color=QUIET, linewidth=0.8)
    axes.grid(True)
    axes.set(title="By distance", xlabel="positions apart", ylabel="cosine", xlim=(0, max(1, len(diagonals) - 1)))


def _draw_scale(axes: Axes, colours: Colormap, least: float, most: float, name: str) -> None:
    """A colour bar with its two ends named."""
    axes.imshow(np.linspace(0, 1, 256)[None], cmap=colours, aspect="auto", interpolation="none", extent=(0, 1, 0, 1))
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1], [_short(least), name, _short(most)])
    first, _, last = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, pad=2)


def _short(number: float) -> str:
    return f"{number:.2g}".replace("-", "−")

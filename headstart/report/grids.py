"""Matrices of cells with a token at each row and column, laid out side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from headstart.report.labels import readable, width
from headstart.report.style import WIDTH, panel, sheet

MARGIN, GAP, HEADER, TITLE = 0.2, 0.35, 0.85, 0.3  # inches
SMALLEST_CELL, LARGEST_CELL = 0.11, 0.32
PIXELS = 800  # along the side of an embedded image


@dataclass(frozen=True)
class Grid:
    """One matrix with a token at each row and column."""

    title: str
    values: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]

    def __post_init__(self) -> None:
        assert self.values.shape == (len(self.rows), len(self.columns)), "a token for each row and column"


@dataclass(frozen=True)
class Layout:
    """Where the grids stand, in inches: square cells of one size, and room for the longest labels."""

    across: int
    cell: float
    left: float  # room for the row labels
    below: float  # room for the column labels
    shared: bool  # all grids have the same rows, which are named once

    @property
    def letters(self) -> float:
        """The size of the labels, in points."""
        return min(8.5, max(5.0, self.cell * 72 * 0.85))

    @property
    def every(self) -> int:
        """Name every token, or every second … where the cells are smaller than letters."""
        return math.ceil(self.letters * 0.95 / 72 / self.cell)


def lay_out(grids: Sequence[Grid], most: int) -> Layout:
    """As many grids side by side as stay readable, at most `most`."""
    shared = all(list(grid.rows) == list(grids[0].rows) for grid in grids)
    em = 8.5 / 72
    left = 0.1 + em * max(width(readable(token)) for grid in grids for token in grid.rows)
    below = 0.1 + em * max(width(readable(token)) for grid in grids for token in grid.columns)
    longest = max(len(grid.columns) for grid in grids)
    across = min(most, len(grids))
    while True:
        room = WIDTH - 2 * MARGIN - left * (1 if shared else across) - GAP * (across - 1)
        cell = min(LARGEST_CELL, room / (across * longest))
        if across == 1 or cell >= SMALLEST_CELL:
            return Layout(across, cell, left, below, shared)
        across -= 1


def draw_grids(
    grids: Sequence[Grid],
    *,
    most: int,
    title: str,
    reading: str,
    colours: Colormap,
    largest: float,
    narrowest: float,
) -> Figure:
    """Values from 0 to `largest`, all grids on one scale; few small grids make a narrower picture."""
    layout = lay_out(grids, most)
    wide = max(len(grid.columns) for grid in grids) * layout.cell + GAP + (0 if layout.shared else layout.left)
    high = max(len(grid.rows) for grid in grids) * layout.cell + TITLE + layout.below + GAP / 2
    needed = 2 * MARGIN + layout.across * wide - GAP + (layout.left if layout.shared else 0)
    height = HEADER + math.ceil(len(grids) / layout.across) * high
    figure = sheet(height, title, reading, max(narrowest, needed))
    for number, grid in enumerate(grids):
        row, column = divmod(number, layout.across)
        corner = MARGIN + layout.left + column * wide, HEADER + TITLE + row * high
        size = len(grid.columns) * layout.cell, len(grid.rows) * layout.cell
        axes = panel(figure, *corner, *size)
        draw_cells(axes, grid.values, colours, 0, largest)
        _name_tokens(axes, grid, layout, rows_named=column == 0 or not layout.shared)
        _draw_edges(axes, layout.cell)
    return figure


def draw_cells(axes: Axes, values: np.ndarray, colours: Colormap, least: float, most: float) -> None:
    """An image whose cells are blown up first: viewers that smooth images then still show sharp edges."""
    rows, columns = values.shape
    times = max(1, PIXELS // max(rows, columns))
    extent = (-0.5, columns - 0.5, rows - 0.5, -0.5)
    large = values.repeat(times, axis=0).repeat(times, axis=1)
    axes.imshow(large, cmap=colours, vmin=least, vmax=most, interpolation="none", aspect="auto", extent=extent)


def _name_tokens(axes: Axes, grid: Grid, layout: Layout, *, rows_named: bool) -> None:
    axes.set_title(grid.title)
    rows = range(0, len(grid.rows), layout.every) if rows_named else range(0)
    columns = range(0, len(grid.columns), layout.every)
    axes.set_yticks(rows, [readable(grid.rows[i]) for i in rows], size=layout.letters)
    axes.set_xticks(columns, [readable(grid.columns[i]) for i in columns], size=layout.letters)
    for label in axes.get_xticklabels():
        label.set(rotation=90, ha="right", va="center", rotation_mode="anchor")
    axes.tick_params(length=0, pad=3)
    axes.spines[:].set_visible(False)


def _draw_edges(axes: Axes, cell: float) -> None:
    """White lines between the cells."""
    right, bottom = axes.get_xlim()[1], axes.get_ylim()[0]
    thickness = min(1.2, cell * 5)
    axes.vlines(np.arange(0.5, right), -0.5, bottom, colors="white", linewidths=thickness)
    axes.hlines(np.arange(0.5, bottom), -0.5, right, colors="white", linewidths=thickness)

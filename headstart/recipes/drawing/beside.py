"""Where the heads of several trained models look in the same text, side by side."""

from collections.abc import Sequence
from pathlib import Path

from headstart.checkpoint import load
from headstart.errors import ConfigError
from headstart.recipes.drawing.attention import Watched, watch
from headstart.report.figures import draw_weights
from headstart.report.grids import Grid
from headstart.report.labels import readable
from headstart.report.style import picture_path

MOST = 4  # heads of one run, next to each other
KINDS = {"lm": "causal", "classify": "classifier"}


def draw_beside(runs: Sequence[Path], text: str, out: Path, *, layer: int = 0, head: int = 0) -> None:
    """One layer of each run, counted from 1 (0: its last), and one of its heads (0: all of them)."""
    picture_path(out)
    models = [load(run) for run in runs]
    for run, saved in zip(runs, models):
        if saved.card.task == "translate":
            raise ConfigError(
                f"{run}: a translator reads one text and writes another; draw it without --beside and --head"
            )
    kinds = [KINDS.get(saved.card.task, saved.card.task) for saved in models]
    names = kinds if len(set(kinds)) == len(kinds) else [readable(run.name) for run in runs]
    seen = [watch(saved, text, layer) for saved in models]
    grids = [
        Grid(f"{name}, head {number}", one.weights[number - 1].astype(float), one.tokens, one.tokens)
        for name, one, run in zip(names, seen, runs)
        for number in _chosen(one, head, run)
    ]
    which = f"layer {layer}" if layer else "the last layer"
    title = f"Where {'the heads' if not head else f'head {head}'} of {which} look{'s' if head else ''} in the same text"
    draw_weights(grids, out, title=title, most=MOST if head else min(MOST, len(seen[0].weights)))


def _chosen(seen: Watched, head: int, run: Path) -> Sequence[int]:
    if not 0 <= head <= len(seen.weights):
        raise ConfigError(f"--head {head}: {run} has heads 1 to {len(seen.weights)}")
    return [head] if head else range(1, len(seen.weights) + 1)

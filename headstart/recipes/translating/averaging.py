"""The mean of several models of one training, kept if it does better than the best single one."""

from dataclasses import dataclass, replace

from headstart.checkpoint import save
from headstart.recipes.translating.scene import Scene
from headstart.recipes.translating.validation import Validation
from headstart.train.keeping import Memory
from headstart.train.points import Points, put_mean


@dataclass(frozen=True)
class Averaged:
    """The mean of several models beside the best single one, by the figure that chose it on validation."""

    steps: tuple[int, ...]
    figure: str
    mean: float
    single: float
    kept: bool


def average(scene: Scene, points: Points, validation: Validation, memory: Memory, better: int) -> Averaged | None:
    """Put the mean of the points beside the best single model, and keep the better one."""
    workers, figure = scene.workers, scene.settings.translator.choice
    workers.wait()
    steps = tuple(points.steps())
    if len(steps) < 2:
        return None
    put_mean(points, scene.model)
    scores = validation.scores(scene.model)
    kept = better * scores[figure] > memory.best
    if kept and workers.first:
        card = replace(scene.card, step=memory.step, scores={**scores, "averaged": float(len(steps))})
        tongues = scene.tongues
        save(scene.out / "best", scene.model, card, tongues.target, source_tokenizer=tongues.own_source)
    workers.wait()
    return Averaged(steps, figure, scores[figure], better * memory.best, kept)

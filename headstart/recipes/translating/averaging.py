"""The mean of several models of one training, kept if it does better than the best single one."""

from dataclasses import dataclass, replace

from headstart.generate.beam import Search
from headstart.recipes.running.training import Scores
from headstart.recipes.translating.scene import Scene
from headstart.recipes.translating.validation import ANY, worth
from headstart.train.keeping import Memory
from headstart.train.points import Points, put_mean
from headstart.train.settings import Translating

END = 0.2  # the last part of a run, over which the models for the mean are spread


@dataclass(frozen=True)
class Averaged:
    """The mean of several models beside the best single one, by what chose between them on all of validation."""

    steps: tuple[int, ...]
    figure: str
    mean: float
    single: float
    kept: bool


def point_steps(steps: int, options: Translating) -> frozenset[int]:
    """After which steps a model is kept for the mean."""
    gap = max(1, round(END * steps / options.average))
    first = steps - (options.average - 1) * gap
    return frozenset(step for step in range(first, steps + 1, gap) if step > 0)


def choose(scene: Scene, points: Points, memory: Memory, how: Search) -> tuple[Scores, Averaged | None]:
    """The better one of the best single model and the mean, which is then written to best/; and what each came to.

    A finished run that is resumed finds the mean in best/ already, with the single one's scores beside its own.
    """
    whole, chosen = scene.validation(ANY), scene.settings.translator.choice
    model, card = scene.best()
    scores, steps = whole.scores(model, how), tuple(points.steps())
    if len(steps) < 2:
        return scores, None
    if "averaged" in card.scores:
        single = {name: card.scores[f"single_{name}"] for name in scores}
        figure = _figure(chosen, scores, single)
        return scores, Averaged(steps, figure, scores[figure], single[figure], kept=True)
    put_mean(points, scene.model)
    mean = whole.scores(scene.model, how)
    figure = _figure(chosen, mean, scores)
    kept = worth(mean, figure) > worth(scores, figure)
    if kept:
        others = {f"single_{name}": value for name, value in scores.items()}
        found = {**mean, **others, "averaged": float(len(steps))}
        scene.keep(scene.model, replace(scene.card, step=memory.step, scores=found))
    return mean if kept else scores, Averaged(steps, figure, mean[figure], scores[figure], kept)


def _figure(chosen: str, mean: Scores, single: Scores) -> str:
    """What both are judged by: where the BLEU of one is noise, the loss."""
    return "held_out_loss" if min(mean["bleu"], single["bleu"]) < 1 else chosen

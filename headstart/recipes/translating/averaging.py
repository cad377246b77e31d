"""The mean of several models of one training, kept if it does better than the best single one."""

from dataclasses import dataclass, replace

from headstart.checkpoint import load, save
from headstart.generate.beam import Search
from headstart.model.models import Translator
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
    workers, whole, chosen = scene.workers, scene.validation(ANY), scene.settings.translator.choice
    workers.wait()
    saved = load(scene.out / "best", workers.device)
    assert isinstance(saved.model, Translator)
    scores, steps = whole.scores(saved.model, how), tuple(points.steps())
    if len(steps) < 2:
        return scores, None
    if "averaged" in saved.card.scores:
        single = {name: saved.card.scores[f"single_{name}"] for name in scores}
        figure = _figure(chosen, scores, single)
        return scores, Averaged(steps, figure, scores[figure], single[figure], kept=True)
    put_mean(points, scene.model)
    mean = whole.scores(scene.model, how)
    figure = _figure(chosen, mean, scores)
    kept = worth(mean, figure) > worth(scores, figure)
    if kept and workers.first:
        others = {f"single_{name}": value for name, value in scores.items()}
        card = replace(scene.card, step=memory.step, scores={**mean, **others, "averaged": float(len(steps))})
        tongues = scene.tongues
        save(scene.out / "best", scene.model, card, tongues.target, source_tokenizer=tongues.own_source)
    workers.wait()
    return mean if kept else scores, Averaged(steps, figure, mean[figure], scores[figure], kept)


def _figure(chosen: str, mean: Scores, single: Scores) -> str:
    """What both are judged by: where the BLEU of one is noise, the loss."""
    return "held_out_loss" if min(mean["bleu"], single["bleu"]) < 1 else chosen

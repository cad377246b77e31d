"""When a run ends: the number of its steps, fixed before the first one."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from headstart.errors import ConfigError
from headstart.train.course import Course
from headstart.train.device import Workers
from headstart.train.loop import fit
from headstart.train.optimiser import adamw
from headstart.train.settings import Training

EVALUATIONS = 10  # in a run whose settings name no interval
EVALUATING = 0.1  # of the minutes of a run, at most
PROBE_SECONDS = 8.0


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """When a run ends: after so many minutes, epochs or steps, whichever is given."""

    minutes: float = 0.0
    epochs: float = 0.0
    steps: int = 0

    def __post_init__(self) -> None:
        given = self.minutes, self.epochs, self.steps
        if sum(0 < value < math.inf for value in given) != 1 or any(not 0 <= value < math.inf for value in given):
            raise ConfigError("give one of --minutes, --epochs and --steps, above 0")


def plan_steps(
    objective: nn.Module,
    course: Course,
    evaluate: Callable[[], object],
    stop: StopRule,
    train: Training,
    workers: Workers,
    precision: str,
    say: Callable[[str], None],
    spent: float = 0.0,
) -> dict[str, Any]:
    """How many steps there will be. From here on the run is a pure function of them.

    `spent` seconds of the minutes that were asked for are already gone.
    """
    steps, evaluations = stop.steps, EVALUATIONS
    per_epoch = course.source.steps(0) / train.accumulate
    if stop.epochs:
        steps = max(1, math.ceil(stop.epochs * per_epoch))
    speed: dict[str, Any] = {}
    if stop.minutes:
        per_step, per_evaluation = _probe(objective, course, evaluate, train, workers, precision)
        evaluations = int(EVALUATING * stop.minutes * 60 / per_evaluation)
        evaluations = min(max(1, evaluations), EVALUATIONS)
        left = stop.minutes * 60 - spent - evaluations * per_evaluation
        steps = max(1, int(max(left, stop.minutes * 30) / per_step))
        speed = {"seconds_per_step": round(per_step, 4)}
        say(f"{per_step:.2f} s a step: {steps:,} steps in {stop.minutes:g} minutes, {steps / per_epoch:.2f} epochs.")
    every = train.evaluate_every or max(1, math.ceil(steps / evaluations))
    return {"steps": steps, "evaluate_every": every, **speed}


def _probe(
    objective: nn.Module,
    course: Course,
    evaluate: Callable[[], object],
    train: Training,
    workers: Workers,
    precision: str,
) -> tuple[float, float]:
    """Seconds per step and per evaluation, measured on real batches at a rate of 0, which changes no weight."""
    sampled = getattr(objective, "sampler", None) is not None
    optimiser = adamw(objective, weight_decay=0.0, betas=(train.beta1, train.beta2), sampled=sampled)
    times: list[float] = []
    options: dict[str, Any] = {"workers": workers, "accumulate": train.accumulate, "precision": precision}
    for step in fit(objective, course, optimiser, lambda _: 0.0, steps=range(200), **options):
        times.append(step.seconds)
        if len(times) > 2 and workers.agree(sum(times) > PROBE_SECONDS):
            break
    started = time.perf_counter()
    evaluate()
    seconds = (workers.add_up(time.perf_counter() - started)) / workers.world
    return workers.add_up(float(np.mean(times[1:]))) / workers.world, seconds

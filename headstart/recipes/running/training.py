"""The life of a run: steps, journal, saves, evaluations, the best model, and an end that loses nothing."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headstart.checkpoint import Card, save
from headstart.errors import DeadRunError
from headstart.text.tokenizer import Tokenizer
from headstart.train.course import Course
from headstart.train.device import Workers
from headstart.train.journal import Journal
from headstart.train.keeping import Memory, go_on, keep
from headstart.train.loop import Step, fit, gradient_scaler
from headstart.train.rows import TORN, RowAdamW
from headstart.train.signals import Interrupted, Stopper

Scores = dict[str, float]
Watcher = Callable[[Step | Scores], None]


def ignore(event: Any) -> None:
    """Nobody is watching."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that one training needs. `score` names the figure by which the best model is chosen.

    Where `save_every` is 0, the state is saved only when the run is interrupted.
    """

    folder: Path
    model: nn.Module
    objective: nn.Module
    course: Course
    optimiser: RowAdamW
    rate_at: Callable[[int], float]
    steps: int
    card: Card
    tokenizer: Tokenizer
    workers: Workers
    evaluate: Callable[[Memory], Scores]
    evaluates_at: Callable[[int], bool]
    score: str
    source_tokenizer: Tokenizer | None = None  # of a translator that reads with another one
    better: int = -1  # -1: lower is better
    save_every: int = 0
    patience: int = 0
    seed: int = 0
    clip: float = 1.0
    accumulate: int = 1
    precision: str = "float32"
    tensorboard: bool = False
    see: Callable[[Step], None] = ignore
    watch: Watcher = ignore
    begin: Callable[[int, int], None] = lambda steps, done: None


def run(job: Job, *, resume: bool = False) -> Memory:
    """Train to the end, or until a signal (Interrupted), an error, or patience runs out."""
    last, journal = job.folder / "last", Journal(job.folder / "metrics.jsonl")
    memory = go_on(last, job.model, job.optimiser) if resume else Memory()
    scaler = gradient_scaler(job.workers.device, job.precision)
    if memory.scaler:
        scaler.load_state_dict(memory.scaler)
    if job.workers.first:
        journal.cut_back(memory.step, memory.evaluated)
        if job.tensorboard:
            journal.show_on_board()
    job.begin(job.steps, memory.step)

    def store() -> None:
        if job.workers.first:
            keep(last, job.model, job.card, job.tokenizer, job.optimiser, memory, job.source_tokenizer)
        job.workers.wait()

    def judge() -> None:
        nonlocal memory
        job.optimiser.wake_all()
        scores = job.evaluate(memory)
        figure = job.better * scores[job.score]
        judged = memory.after(figure if math.isfinite(figure) else float("-inf"))
        if job.workers.first:
            journal.write(judged.step, **scores)
            if judged.best_step == judged.step:
                card = replace(job.card, step=judged.step, scores=scores)
                save(job.folder / "best", job.model, card, job.tokenizer, source_tokenizer=job.source_tokenizer)
        job.workers.wait()  # whoever reads the best model finds it
        memory = judged  # only now: what stops the save of the best must not leave a memory of it
        job.watch(scores)

    def tired() -> bool:
        return bool(job.patience) and memory.waited >= job.patience

    with Stopper() as stopper:
        if memory.step and job.evaluates_at(memory.step) and memory.evaluated < memory.step:
            judge()
        try:
            for step in _steps(job, memory, scaler) if not tired() else ():
                memory = replace(
                    memory,
                    step=step.number,
                    tokens=memory.tokens + step.tokens,
                    seconds=memory.seconds + step.seconds,
                    scaler=scaler.state_dict(),
                )
                if job.workers.first:
                    journal.write(step.number, loss=step.loss, rate=step.rate, norm=step.norm, tokens=memory.tokens)
                job.watch(step)
                job.see(step)
                asked, due = job.workers.agree(stopper.asked), job.evaluates_at(step.number)
                if asked or (job.save_every and (due or step.number % job.save_every == 0)):
                    store()
                if asked:
                    raise Interrupted(f"saved at step {memory.step} of {job.steps}")
                if due:
                    judge()
                if tired():
                    break
        except (Interrupted, DeadRunError):
            raise
        except BaseException as error:
            if TORN not in getattr(error, "__notes__", ()):
                store()
            raise
    asked = job.workers.agree(stopper.asked)  # during the last evaluation
    if asked or job.save_every:
        store()
    if asked:
        raise Interrupted(f"saved at step {memory.step} of {job.steps}")
    if memory.evaluated and not memory.best_step:
        raise DeadRunError(f"{job.folder}: no evaluation gave a finite score, so no model was kept; lower the rate")
    return memory


def _steps(job: Job, memory: Memory, scaler: torch.amp.GradScaler) -> Iterator[Step]:
    return fit(
        job.objective,
        job.course,
        job.optimiser,
        job.rate_at,
        steps=range(memory.step, job.steps),
        workers=job.workers,
        seed=job.seed,
        clip=job.clip,
        accumulate=job.accumulate,
        precision=job.precision,
        scaler=scaler,
    )

"""The one training loop: batches in, one `Step` out per optimiser step."""

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from headstart.train.course import Course
from headstart.train.device import Workers, autocast
from headstart.train.dropout import quicken
from headstart.train.objectives import targets_in
from headstart.train.optimiser import clip_gradients, set_rate
from headstart.train.rows import TORN


@dataclass(frozen=True)
class Step:
    """What happened in one optimiser step; `number` counts the steps done, from 1."""

    number: int
    loss: float  # mean over the targets of all workers; of two kinds of targets, the sum of both means
    targets: int
    tokens: int  # positions computed
    rate: float
    norm: float  # of the gradient, before it was clipped
    seconds: float


def fit(
    objective: nn.Module,
    course: Course,
    optimiser: torch.optim.Optimizer,
    rate_at: Callable[[int], float],
    *,
    steps: range,
    workers: Workers,
    seed: int = 0,
    clip: float = 1.0,
    accumulate: int = 1,
    precision: str = "float32",
    scaler: torch.amp.GradScaler | None = None,
) -> Iterator[Step]:
    """Take `steps`, yielding after each; the caller logs, saves, evaluates and stops.

    Dropout is drawn anew for each step from its number, so a resumed run needs no memory of random states.
    Every worker lays out the whole batch and takes its share of the rows: the number of workers changes nothing
    but the order of sums.
    """
    quicken(objective)
    alone = workers.world == 1  # the only buffers, tables of positions, are the same everywhere: none is sent
    wrapped = objective if alone else _distributed(objective)
    scaler = scaler or gradient_scaler(workers.device, precision)
    for number in steps:
        started = time.perf_counter()
        objective.train()
        torch.manual_seed(draw(seed, number, workers.rank))
        rate = rate_at(number)
        set_rate(optimiser, rate, number)
        parts = [course.at(number * accumulate + i) for i in range(accumulate)]
        targets = torch.stack([targets_in(part) for part in parts]).sum(0).clamp(min=1)  # of each kind
        loss = 0.0
        for i, part in enumerate(parts):
            share = part.share(workers.rank, workers.world).to(workers.device)
            waits = workers.world > 1 and i < accumulate - 1
            with wrapped.no_sync() if waits else nullcontext(), autocast(workers.device, precision):  # type: ignore[operator]
                part_loss = wrapped(share)
                # Workers' gradients are averaged: the sum over all of them is what the batch asks for.
                scaler.scale((part_loss * (workers.world / targets).to(part_loss)).sum()).backward()
            loss += float((part_loss.detach().cpu().double() / targets).sum())
        scaler.unscale_(optimiser)
        norm = clip_gradients(optimiser, clip)
        loss = workers.add_up(loss)  # before the weights change: a dead worker is noticed here at the latest
        try:
            scaler.step(optimiser)
        except BaseException as error:
            error.add_note(TORN)
            raise
        scaler.update()
        optimiser.zero_grad(set_to_none=True)
        tokens = sum(part.tokens() for part in parts)
        yield Step(number + 1, loss, int(targets.sum()), tokens, rate, norm.item(), time.perf_counter() - started)


def _distributed(objective: nn.Module) -> DistributedDataParallel:
    """torch warns that this option is to be renamed; the one that it names meanwhile still sends the buffers once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return DistributedDataParallel(objective, broadcast_buffers=False)


def gradient_scaler(device: torch.device, precision: str) -> torch.amp.GradScaler:
    """Keeps float16 gradients from vanishing; with any other precision it does nothing."""
    return torch.amp.GradScaler(device.type, enabled=precision == "float16")


def draw(*numbers: int) -> int:
    """One seed from several numbers, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(repr(numbers).encode(), digest_size=7).digest(), "big")


def leave_workers() -> None:
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()

"""What the paper's own translation run would take on this machine, from counted operations and a short probe."""

import time
from dataclasses import dataclass

import torch

from headstart.checkpoint import build
from headstart.data.pairs import PairBatch
from headstart.model.bill import bill, total, work
from headstart.model.init import initialise
from headstart.model.models import Translator
from headstart.model.shape import Shape
from headstart.recipes.settings import read_settings
from headstart.train.device import autocast, choose_device, resolve_precision
from headstart.train.dropout import quicken
from headstart.train.translation import NextWord

# Vaswani et al. (2017), sections 5.1 and 5.2, tables 2 and 3: the base model
PARAMETERS, STEPS, TOKENS = 65_000_000, 100_000, 25_000  # TOKENS of each side in a batch
GPUS, HOURS, THEIR_FLOPS = 8, 12, 3.3e18
LENGTH, ROWS = 32, 8  # of the probe: about as long as their sentences
SECONDS = 3.0


@dataclass(frozen=True)
class PaperRun:
    """`flops` is counted: products of the forward pass, twice as many backward. `speed` is what the probe reached.

    `their_flops` is the paper's own figure, which it derives from GPU hours and not from counting.
    """

    parameters: int
    their_parameters: int
    flops: float
    their_flops: float
    their_gpu_hours: int
    speed: float
    days: float
    length: int = LENGTH  # of both sides, for which operations are counted


def is_the_papers(shape: Shape) -> bool:
    return shape == read_settings("base").model


def paper_run(shape: Shape) -> PaperRun:
    flops = work(shape, "translate", length=LENGTH).training * float(TOKENS) * STEPS
    speed = probe(shape)
    return PaperRun(
        parameters=total(bill(shape, "translate")),
        their_parameters=PARAMETERS,
        flops=flops,
        their_flops=THEIR_FLOPS,
        their_gpu_hours=GPUS * HOURS,
        speed=speed,
        days=flops / speed / 86_400,
    )


def probe(shape: Shape, seconds: float = SECONDS) -> float:
    """Counted operations per second in training steps of this very model, as `headstart translator` takes them here.

    The optimiser, which a batch of theirs makes light of, is left out; the first step warms up.
    """
    device = choose_device()
    precision = resolve_precision("auto", device, shape.width)
    state = torch.random.get_rng_state()
    model = build("translate", shape)
    initialise(model)
    assert isinstance(model, Translator)
    ids = torch.randint(7, shape.vocabulary, (ROWS, LENGTH))
    torch.random.set_rng_state(state)
    batch = PairBatch(ids, torch.full((ROWS,), LENGTH), ids, ids, torch.arange(ROWS)).to(device)
    objective, times = NextWord(model.to(device), 0.1).train(), [0.0]
    quicken(objective)
    while len(times) < 3 or sum(times) < seconds:
        started = time.perf_counter()
        with autocast(device, precision):
            objective(batch).backward()
        next(model.parameters()).grad.sum().item()  # type: ignore[union-attr]  # a GPU is waited for
        times.append(time.perf_counter() - started)
        model.zero_grad(set_to_none=True)
    return work(shape, "translate", length=LENGTH).training * ROWS * LENGTH / min(times[2:])

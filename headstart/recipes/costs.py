"""What attention, recurrence and convolution cost: operations counted, passes timed, exponents fitted.

The counts are exact, so their exponents are whole: n²d, nd² and knd². The times are a machine's, and their
exponents differ, for reasons that are no mistake: small sizes pay for starting an operation and not for doing
it; a wide matrix runs nearer to the processor's best speed than a narrow one; a matrix that has outgrown the
cache is limited by memory; attention's softmax touches n² numbers that the count of multiplications leaves out.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from headstart.model.attention import attention_weights
from headstart.model.body import Body
from headstart.model.init import initialise
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape
from headstart.report.costs import Curve, Passes, draw_costs
from headstart.report.style import picture_path

Progress = Callable[[str, int, int], None]  # what is measured now, how many are done, how many there are
Pass = Callable[[], Tensor]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What is measured; the first three grow one at a time while the others stand at `length`, `width`, `kernel`."""

    lengths: tuple[int, ...] = (128, 256, 512, 1024, 2048)
    widths: tuple[int, ...] = (64, 128, 256, 512, 1024)
    kernels: tuple[int, ...] = (1, 2, 4, 8, 16)
    length: int = 256
    width: int = 128
    kernel: int = 3
    texts: tuple[int, ...] = (16, 32, 64, 128, 256)
    seconds: float = 0.2  # spent on each measurement, unless three passes take longer


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Everything that was counted and timed, and on how many threads."""

    curves: tuple[Curve, ...]
    passes: tuple[Passes, ...]
    threads: int

    def to_json(self) -> dict[str, Any]:
        curves = [{**asdict(curve), "counted": curve.counted, "measured": curve.measured} for curve in self.curves]
        passes = [{**asdict(each), "times_faster": each.times_faster} for each in self.passes]
        return {"threads": self.threads, "curves": curves, "passes": passes}


def self_attention(n: int, d: int, k: int) -> Pass:
    """softmax(q kᵀ / √d) v, one head; the textbook one, since the fast one is not counted on a CPU. n²d twice."""
    queries, keys, values = torch.randn(3, 1, 1, n, d)
    return lambda: attention_weights(queries, keys) @ values


def recurrent(n: int, d: int, k: int) -> Pass:
    """hₜ = tanh(xₜ + hₜ₋₁ W), step by step, since no step can begin before the last one ended. nd²"""
    inputs, weight, start = torch.randn(n, 1, d), torch.randn(d, d) / d**0.5, torch.zeros(1, d)

    def run() -> Tensor:
        state = start
        for x in inputs:
            state = torch.tanh(x + state @ weight)
        return state

    return run


def convolution(n: int, d: int, k: int) -> Pass:
    """Each position mixes itself and the k − 1 before it. knd²"""
    inputs, weight = torch.randn(1, d, n), torch.randn(d, d, k) / (k * d) ** 0.5
    return lambda: F.conv1d(F.pad(inputs, (k - 1, 0)), weight)


LAYERS = {"self-attention": self_attention, "recurrent": recurrent, "convolution": convolution}


def count_flops(run: Pass) -> int:
    """Multiplications and additions inside matrix products and convolutions, two for each pair."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def fastest(run: Pass, seconds: float) -> float:
    """The least time of many: whatever else the machine does can only add to it."""
    run()
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)

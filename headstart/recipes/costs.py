"""What attention, recurrence and convolution cost: operations counted, passes timed, exponents fitted.

Counts are exact, so their exponents are whole: n²d, nd² and knd². Times belong to a machine, and their exponents
differ for reasons that are no mistake: small sizes pay for starting an operation rather than for doing it; wide
matrices run nearer to the processor's best speed than narrow ones; what has outgrown the cache waits for memory;
and attention's softmax touches n² numbers of which the count of multiplications knows nothing.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

Run = Callable[[], Tensor]

# Processor time, so that a busy neighbour costs little; Windows counts it in ticks that are too coarse.
clock = time.process_time if os.name == "posix" else time.perf_counter


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What is measured: n, d and k grow one at a time, while the other two stand at the singular sizes."""

    lengths: tuple[int, ...] = (128, 256, 512, 1024, 2048)
    widths: tuple[int, ...] = (128, 256, 512, 1024, 2048)
    kernels: tuple[int, ...] = (2, 4, 8, 16, 32)
    length: int = 256
    width: int = 128
    kernel: int = 3
    texts: tuple[int, ...] = (16, 32, 64, 128, 256)
    seconds: float = 0.1  # given to each time taken, unless two runs need more

    def __post_init__(self) -> None:
        grown = self.lengths, self.widths, self.kernels
        if any(len(set(sizes)) < 2 for sizes in grown):
            raise ValueError("an exponent needs at least two sizes of each kind")
        if min(*self.lengths, *self.widths, *self.kernels, *self.texts, self.length, self.width, self.kernel) < 1:
            raise ValueError("sizes start at 1")

    @property
    def measurements(self) -> int:
        return len(PLAN) + len(self.texts)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Everything that was counted and timed."""

    curves: tuple[Curve, ...]
    passes: tuple[Passes, ...]
    threads: int = 1

    def to_json(self) -> dict[str, Any]:
        curves = [
            {**asdict(curve), "counted_exponent": curve.counted, "measured_exponent": curve.measured}
            for curve in self.curves
        ]
        passes = [{**asdict(each), "times_faster": each.times_faster} for each in self.passes]
        return {"threads": self.threads, "curves": curves, "passes": passes}


def measure_costs(
    advance: Callable[[int], None] = lambda amount: None,
    *,
    out: Path | None = None,
    sizes: Sizes = Sizes(),  # noqa: B008 (frozen)
) -> Costs:
    """Count and time everything, in about 20 seconds, and draw it if `out` is given.

    `advance(1)` is called after each of `sizes.measurements`.
    """
    if out is not None:
        picture_path(out)
    curves, passes = [], []
    with torch.inference_mode(), one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for layer, grows in PLAN:
            curves.append(measure_curve(layer, grows, sizes))
            advance(1)
        model = small_language_model(max(sizes.texts))
        for tokens in sizes.texts:
            passes.append(measure_passes(model, tokens, sizes.seconds))
            advance(1)
    costs = Costs(curves=tuple(curves), passes=tuple(passes))
    if out is not None:
        draw_costs(costs.curves, costs.passes, out)
    return costs


def measure_curve(layer: str, grows: str, sizes: Sizes) -> Curve:
    """Two rounds over all sizes, so that a moment in which the machine was busy spoils no point."""
    grown = {"n": sizes.lengths, "d": sizes.widths, "k": sizes.kernels}[grows]
    fixed = {"n": sizes.length, "d": sizes.width, "k": sizes.kernel}
    del fixed[grows]
    runs = [LAYERS[layer](**fixed, **{grows: size}) for size in grown]
    rounds = [[fastest(run, sizes.seconds) for run in runs] for _ in range(2)]
    return Curve(
        layer=layer,
        grows=grows,
        fixed=fixed,
        sizes=grown,
        flops=tuple(map(count_flops, runs)),
        seconds=tuple(map(min, *rounds)),
    )


def self_attention(n: int, d: int, k: int) -> Run:
    """softmax(q kᵀ / √d) v, written out, since the fused one is not counted on a CPU: 2 products of n²d."""
    queries, keys, values = torch.randn(3, 1, 1, n, d)
    return lambda: attention_weights(queries, keys) @ values


def recurrent(n: int, d: int, k: int) -> Run:
    """hₜ = tanh(xₜ + hₜ₋₁ W), one step after the other: n products of d²."""
    inputs, weight, start = torch.randn(n, 1, d), torch.randn(d, d) / d**0.5, torch.zeros(1, d)

    def run() -> Tensor:
        state = start
        for x in inputs:
            state = torch.tanh(x + state @ weight)
        return state

    return run


def convolution(n: int, d: int, k: int) -> Run:
    """Each position mixes itself and the k − 1 before it: n products of kd²."""
    inputs, weight = torch.randn(1, d, n), torch.randn(d, d, k) / (k * d) ** 0.5
    return lambda: F.conv1d(F.pad(inputs, (k - 1, 0)), weight)


LAYERS: dict[str, Callable[..., Run]] = {
    "self-attention": self_attention,
    "recurrent": recurrent,
    "convolution": convolution,
}
PLAN = [(layer, grows) for grows in "ndk" for layer in LAYERS if grows != "k" or layer == "convolution"]


def small_language_model(context: int) -> LanguageModel:
    shape = Shape(vocabulary=1000, width=128, depth=2, heads=4, hidden=512, context=context, dropout=0.0)
    model = LanguageModel(Body(shape, causal=True))
    initialise(model)
    return model.eval()


def measure_passes(model: LanguageModel, tokens: int, seconds: float) -> Passes:
    """All next-token scores of a text: under the mask at once, or from each of its beginnings in turn."""
    ids = torch.randint(model.body.shape.vocabulary, (1, tokens))

    def one_pass() -> Tensor:
        return model(ids)[0]  # (T, V)

    def many_passes() -> Tensor:
        return torch.stack([model(ids[:, : end + 1])[0, -1] for end in range(tokens)])  # (T, V)

    return Passes(
        tokens=tokens,
        one_pass=fastest(one_pass, seconds),
        many_passes=fastest(many_passes, seconds),
        difference=float((one_pass() - many_passes()).abs().max()),
    )


def count_flops(run: Run) -> int:
    """Multiplications and additions in matrix products and convolutions: two for each pair of numbers."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def fastest(run: Run, seconds: float) -> float:
    """The least of several times: whatever else the machine does can only add to it."""
    run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


@contextmanager
def one_thread() -> Iterator[None]:
    """Two threads wait for each other, and on a busy machine that wait is what would be measured."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

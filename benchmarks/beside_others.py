"""How fast a training is beside other programs, as its threads wait for each other by long spinning or by a short one.

python -m benchmarks.beside_others [--preset tiny] [--others 0 1 2] [--repeats 5]

A language model of the preset learns from made-up ids with all threads, beside so many programs that keep a core busy.
The ways to wait take turns. `usual` is GNU OpenMP's own; the others are values of GOMP_SPINCOUNT.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from benchmarks.table import spread
from headstart.cli.waiting import SPINS

USUAL, TELLING = "usual", ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
ROWS, LENGTH, WARM = 16, 128, 20  # of a batch; steps that are not timed
BUSY = [sys.executable, "-c", "while True: pass"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--others", type=int, nargs="+", default=[0, 1, 2], help="busy programs beside it")
    parser.add_argument("--spins", nargs="+", default=[USUAL, SPINS], help="ways to wait; all are put beside the first")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)  # what the measured process is told
    given = parser.parse_args()
    if given.alone:
        print(train(given.preset, given.seconds))
        return
    for others in given.others:
        rates: dict[str, list[float]] = {spins: [] for spins in given.spins}
        with busy(others):
            for _ in range(given.repeats):
                for spins, measured in rates.items():
                    measured.append(beside(spins, given.preset, given.seconds))
        for spins, measured in rates.items():
            ratio = spread([mine / first for mine, first in zip(measured, rates[given.spins[0]])])
            print(f"{others} beside   {spins:>8}   {median(measured):8,.0f} tokens/s   {ratio} ×", flush=True)


@contextmanager
def busy(count: int) -> Iterator[None]:
    programs = [subprocess.Popen(BUSY) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def beside(spins: str, preset: str, seconds: float) -> float:
    """Tokens a second of a process of its own: OpenMP reads how to wait when it is loaded."""
    others = {name: value for name, value in os.environ.items() if name not in TELLING}
    told = {} if spins == USUAL else {"GOMP_SPINCOUNT": spins}
    words = [sys.executable, "-m", "benchmarks.beside_others", "--alone", "--preset", preset, "--seconds", str(seconds)]
    return float(subprocess.run(words, env=others | told, stdout=subprocess.PIPE, text=True, check=True).stdout)


def train(preset: str, seconds: float) -> float:
    """With the product's loop, on windows of made-up ids."""
    import numpy as np
    import torch

    from benchmarks.peers.ours import training_steps
    from headstart.checkpoint import Card
    from headstart.data.windows import CausalWindows
    from headstart.model.models import LanguageModel
    from headstart.recipes.settings import read_settings
    from headstart.text.pieces.specials import PAD, SOS
    from headstart.text.store import Tokens
    from headstart.train.objectives import NextToken

    torch.manual_seed(0)
    shape = read_settings(preset).model
    ids = np.random.default_rng(0).integers(PAD + 1, shape.vocabulary, ROWS * (LENGTH + 1) * 20)
    offsets = np.arange(0, len(ids), LENGTH + 1)
    ids[offsets] = SOS
    model = Card(task="lm", shape=shape).build()
    assert isinstance(model, LanguageModel)
    steps = training_steps(NextToken(model), CausalWindows(Tokens(ids, offsets), LENGTH, ROWS, seed=0, pad=PAD))
    for _ in range(WARM):
        next(steps)
    started, tokens = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds:
        tokens += next(steps).tokens
    return tokens / passed


if __name__ == "__main__":
    main()

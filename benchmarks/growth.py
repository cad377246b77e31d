"""How cost grows: with the corpus (time and memory of encoding), with the vocabulary, with the length of windows.

python -m benchmarks [--quick] runs it after the comparison.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.encoding import measure_copies
from benchmarks.peers.ours import shape_of, training_steps
from benchmarks.texts import LENGTH, ROWS, Texts
from headstart.checkpoint import Card
from headstart.data.windows import CausalBatch
from headstart.model.init import initialise
from headstart.train.objectives import NextToken

COPIES = (1, 4, 16)
VOCABULARIES = (8_000, 16_000, 32_000, 50_001)
LENGTHS = (64, 128, 256, 512, 1_024)
STEPS = 3
ENOUGH = 40  # times the test texts, so that the start costs little beside the work


@dataclass(frozen=True)
class MadeUp:
    """Batches of random tokens: what they say does not change what they cost."""

    vocabulary: int
    length: int
    note: str = ""

    def steps(self, epoch: int) -> int:
        return 1_000

    def batch(self, epoch: int, position: int) -> CausalBatch:
        size = (ROWS * LENGTH // self.length, self.length)
        ids = torch.from_numpy(np.random.default_rng(position).integers(7, self.vocabulary, size))
        places = torch.arange(self.length).expand(size)
        return CausalBatch(
            ids=ids, targets=ids.roll(-1, 1), positions=places, documents=torch.zeros_like(ids), single=True
        )


def measure(texts: Texts, folder: Path, corpus: Sequence[str], *, quick: bool) -> dict[str, Any]:
    return {
        "corpus": _corpus(texts, folder, corpus, COPIES[:2] if quick else COPIES),
        "vocabulary": _steps(texts, [(size, LENGTH) for size in VOCABULARIES[: 1 if quick else 4]], "vocabulary"),
        "length": _steps(texts, [(texts.tokenizer.size, n) for n in LENGTHS[: 2 if quick else 5]], "length"),
    }


def _corpus(texts: Texts, folder: Path, corpus: Sequence[str], times: Sequence[int]) -> list[dict[str, float]]:
    """Encoding the copies into a token store, in a process of its own."""
    path = Path(corpus[0]) if corpus else folder / "growing.txt"
    if not corpus:
        path.write_text("".join(f"{' '.join(row.text.split())}\n" for row in texts.test * ENOUGH), "utf-8")
    texts.tokenizer.save(folder / "tokenizer")
    print("\ncorpus      seconds   of linear   peak memory, MB   of the first")
    found: list[dict[str, float]] = []
    for copies in times:
        run = measure_copies(path, copies, folder)
        found.append({"copies": copies, "seconds": run.seconds, "memory": run.peak})
        linear = run.seconds / (copies * found[0]["seconds"])
        flat = run.peak / found[0]["memory"]
        print(f"  × {copies:<3}{run.seconds:12.2f}{linear:12.2f}{run.peak / 1e6:18,.0f}{flat:15.2f}", flush=True)
    return found


def _steps(texts: Texts, sizes: Sequence[tuple[int, int]], name: str) -> list[dict[str, float]]:
    """Whole training steps of 2,048 tokens with the exact loss."""
    print(f"\n{name:<12}tokens/s")
    found = []
    for vocabulary, length in sizes:
        torch.manual_seed(0)
        shape = replace(shape_of(texts), vocabulary=vocabulary, context=length)
        model = Card(task="lm", shape=shape).build()
        initialise(model)
        rate = _rate(NextToken(model), MadeUp(vocabulary, length))  # type: ignore[arg-type]
        found.append({name: vocabulary if name == "vocabulary" else length, "rate": rate})
        print(f"  {found[-1][name]:<10,}{rate:,.0f}", flush=True)
    return found


def _rate(objective: nn.Module, source: MadeUp) -> float:
    steps = training_steps(objective, source, count=STEPS + 1)
    next(steps)
    return statistics.median(step.tokens / step.seconds for step in steps)

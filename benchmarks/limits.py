"""What the processor could do at best: its measured matrix product and memory, and what each job needs of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import torch

from benchmarks.texts import LENGTH, LONGEST_PROMPT, Texts
from headstart.model.bill import FLOAT, bill, total, work
from headstart.model.shape import Shape


@dataclass(frozen=True)
class Processor:
    """Floating-point operations and bytes read, a second, with all threads that torch uses."""

    operations: float
    bytes: float
    threads: int


def measure_processor(seconds: float = 1.0) -> Processor:
    """The best of many float32 products of a training step's size, and of reading an output table once."""
    x, y = torch.randn(2048, 1024), torch.randn(1024, 1024)
    row, table = torch.randn(1, 200), torch.randn(200, 50_001)
    product = _best(lambda: x @ y, seconds)
    reading = _best(lambda: row @ table, seconds)
    return Processor(2 * 2048 * 1024 * 1024 / product, FLOAT * table.numel() / reading, torch.get_num_threads())


def limits(processor: Processor, texts: Texts, shape: Shape) -> dict[str, float]:
    """At most so many tokens or texts a second, by area: products in float32, each weight read once a token written."""
    classify = {
        part: _text_work(shape, [len(ids) + 1 for ids in texts.tokenizer.encode_batch([row.text for row in rows])])
        for part, rows in (("train", texts.train), ("test", texts.test))
    }
    written = work(shape, "lm", length=LONGEST_PROMPT + texts.amounts.written // 2)
    weights = FLOAT * (total(bill(shape, "lm")) - shape.vocabulary * shape.width)  # of the embedding, one row is read
    return {
        "training": processor.operations / work(shape, "lm", length=LENGTH).training,
        "fine-tuning": processor.operations / (3 * classify["train"]),
        "prediction": processor.operations / classify["test"],
        "writing 1": processor.bytes / weights,
        "writing 32": processor.operations / written.forward,
    }


def _text_work(shape: Shape, lengths: list[int]) -> float:
    """Operations of one pass over a text, on average; padding is not needed."""
    cut = [min(length, shape.context) for length in lengths]
    return fmean(length * work(shape, "classify", length=length).forward for length in cut)


def _best(job: Callable[[], object], seconds: float) -> float:
    job()
    found, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        job()
        found = min(found, time.perf_counter() - start)
    return found

"""Equal minutes: exact held-out loss over time of ours (exact and sampled), the lab's loop and Hugging Face.

python -m benchmarks.equal_minutes [CORPUS ...] [--lab FOLDER] [--minutes 10] [--quick]

Each trains alone for M minutes on the same windows; time spent on evaluation is not counted. Ours and Hugging Face
follow the same schedule, a short rise and a cosine down to 5 % at the last minute; the lab keeps its own constant rate.
The held-out windows are the same for all, and every loss is over the whole vocabulary.
"""

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.areas import HUGGING_FACE, LAB, OURS, SAMPLED
from benchmarks.texts import QUICK, Amounts, Texts, prepare

PEAK, RISE, FLOOR, LAB_RATE = 1e-3, 0.05, 0.05, 3e-4
EVALUATIONS, HELD_OUT_BATCHES = 12, 16
Begin = Callable[..., tuple[Iterator[int], Callable[[], float]]]
"""From texts and the clock to steps, each of which tells how many tokens it read, and the held-out loss so far."""
CONTENDERS = (SAMPLED, HUGGING_FACE, LAB, OURS)


@dataclass(frozen=True)
class Point:
    """Seconds of training so far, tokens read, and the exact held-out loss in nats a token."""

    seconds: float
    tokens: int
    loss: float


class Clock:
    """Training seconds; evaluation stops it."""

    def __init__(self, limit: float):
        self.limit, self.used, self.started = limit, 0.0, time.perf_counter()

    def progress(self) -> float:
        return min(1.0, (self.used + time.perf_counter() - self.started) / self.limit)

    def pause(self) -> None:
        self.used += time.perf_counter() - self.started

    def go_on(self) -> None:
        self.started = time.perf_counter()


def rate_at(progress: float) -> float:
    if progress < RISE:
        return PEAK * max(progress, 0.002) / RISE
    done = (progress - RISE) / (1 - RISE)
    return PEAK * (FLOOR + (1 - FLOOR) * (1 + math.cos(math.pi * done)) / 2)


def train(name: str, texts: Texts, seconds: float, answers: Any, negatives: int | None = None) -> None:
    """In a process of its own: train, evaluate now and then, and answer with the points."""
    clock = Clock(seconds)
    begins: dict[str, Begin] = {OURS: _ours, LAB: _lab, HUGGING_FACE: _hugging_face}
    steps, held_out = begins.get(name, partial(_sampled, negatives=negatives))(texts, clock)
    points, tokens = [Point(0.0, 0, held_out())], 0
    clock.go_on()
    for new in steps:
        tokens += new
        progress = clock.progress()
        if progress >= len(points) / EVALUATIONS:
            clock.pause()
            points.append(Point(clock.used, tokens, held_out()))
            print(f"  {name:<26}{clock.used:8.0f} s{tokens:12,} tokens   {points[-1].loss:.3f}", flush=True)
            clock.go_on()
        if progress >= 1:
            break
    answers.put([asdict(point) for point in points])


def _ours(texts: Texts, clock: Clock, sampler: Any = None) -> tuple[Iterator[int], Callable[[], float]]:
    import torch

    from benchmarks.peers.ours import language_model, training_steps
    from headstart.train.objectives import NextToken

    objective = NextToken(language_model(texts), sampler)

    @torch.no_grad()
    def held_out() -> float:
        objective.eval()
        losses = [(objective(batch).item(), int((batch.targets >= 0).sum())) for batch in _held_out(texts)]
        return sum(loss for loss, _ in losses) / sum(count for _, count in losses)

    steps = training_steps(objective, texts.windows(), lambda step: rate_at(clock.progress()))
    return (step.tokens for step in steps), held_out


def _sampled(texts: Texts, clock: Clock, negatives: int | None = None) -> tuple[Iterator[int], Callable[[], float]]:
    from benchmarks.peers.ours import sampler

    return _ours(texts, clock, sampler(texts, negatives))


def _lab(texts: Texts, clock: Clock) -> tuple[Iterator[int], Callable[[], float]]:
    import torch

    from benchmarks.peers import lab_loop

    model = lab_loop.language_model(texts)
    optimiser = torch.optim.Adam(model.parameters(), lr=LAB_RATE)
    return _loop(model, optimiser, lab_loop.loss_of, texts, lambda: LAB_RATE, 0.5)


def _hugging_face(texts: Texts, clock: Clock) -> tuple[Iterator[int], Callable[[], float]]:
    import torch

    from benchmarks.peers import hugging_face

    model = hugging_face.language_model(texts)
    optimiser = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    return _loop(model, optimiser, hugging_face.loss_of, texts, lambda: rate_at(clock.progress()), 1.0)


def _loop(
    model: Any, optimiser: Any, loss_of: Callable[..., Any], texts: Texts, rate: Callable[[], float], clip: float
) -> tuple[Iterator[int], Callable[[], float]]:
    import torch

    windows = texts.windows()

    def steps() -> Iterator[int]:
        number = 0
        while True:
            epoch, place = divmod(number, windows.steps(0))
            batch, number = windows.batch(epoch, place), number + 1
            model.train()
            for group in optimiser.param_groups:
                group["lr"] = rate()
            loss_of(model, batch.ids, batch.targets).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimiser.step()
            optimiser.zero_grad()
            yield batch.ids.numel()

    @torch.no_grad()
    def held_out() -> float:
        model.eval()
        counts = [int((batch.targets >= 0).sum()) for batch in _held_out(texts)]
        losses = [loss_of(model, batch.ids, batch.targets).item() for batch in _held_out(texts)]
        return sum(loss * count for loss, count in zip(losses, counts)) / sum(counts)

    return steps(), held_out


def _held_out(texts: Texts) -> list[Any]:
    windows = texts.windows(held_out=True)
    most = 1 if texts.amounts == QUICK else HELD_OUT_BATCHES
    return [windows.batch(0, place) for place in range(min(windows.steps(0), most))]


def draw(found: dict[str, Any], out: Path) -> None:
    from benchmarks.figure import COLOURS
    from headstart.report.style import GREEN, look, panel, save, sheet

    with look():
        figure = sheet(
            5.0, "Held-out loss at equal minutes", "Exact loss over the whole vocabulary, on the same held-out text"
        )
        axes = panel(figure, 0.8, 1.0, 8.8, 3.4)
        for name, points in found["curves"].items():
            minutes = [point["seconds"] / 60 for point in points]
            axes.plot(minutes, [point["loss"] for point in points], "o-", color=COLOURS.get(name, GREEN), label=name)
        axes.set_xlabel("minutes of training")
        axes.set_ylabel("nats a token")
        axes.legend(frameon=False)
        save(figure, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", nargs="*", help="files of raw text")
    parser.add_argument("--lab", type=Path, help="the lab's folder: sentencepiece.french.model, dict.txt, cls-books/")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--of", nargs="+", choices=CONTENDERS, default=CONTENDERS, help="only these")
    parser.add_argument("--negatives", type=int, help="how many the sampled loss draws, if not as many as by default")
    parser.add_argument("--quick", action="store_true", help="a few seconds each: does everything run?")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    import torch

    seconds = 3.0 if given.quick else 60 * given.minutes
    context = multiprocessing.get_context("spawn")
    path = given.out / f"equal_minutes_{seconds / 60:g}.json"
    with tempfile.TemporaryDirectory() as name:
        texts = prepare(Path(name), QUICK if given.quick else Amounts(), given.corpus, given.lab)
        found = {"minutes": seconds / 60, "quick": given.quick, "vocabulary": texts.tokenizer.size}
        found |= {"threads": torch.get_num_threads(), "negatives": given.negatives, "curves": {}}
        for contender in given.of:
            answers = context.SimpleQueue()
            process = context.Process(target=train, args=(contender, texts, seconds, answers, given.negatives))
            process.start()
            found["curves"][contender] = answers.get()
            process.join()
            write(found, path)  # after each, so that what is measured is kept
    print(f"Written: {path} and {path.with_suffix('.svg')}")


def write(found: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    draw(found, path.with_suffix(".svg"))


if __name__ == "__main__":
    main()

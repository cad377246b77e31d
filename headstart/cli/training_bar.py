"""What a person sees while a model trains: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections import deque
from types import TracebackType
from typing import Any, Self

EVERY = 20.0  # seconds between two lines where there is no terminal


class TrainingBar:
    """Shows speed, time left, loss and the last scores, on stderr."""

    def __init__(self, title: str, *, quiet: bool = False):
        self.title, self.quiet, self.steps, self.scores = title, quiet, 0, ""
        self.recent: deque[tuple[float, int]] = deque(maxlen=30)
        self.loss, self.said = float("nan"), time.monotonic()
        self.rich: Any = None
        self.task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.rich is not None:
            self.rich.stop()

    def begin(self, steps: int, done: int = 0) -> None:
        """A job of two trainings calls it twice."""
        if self.rich is not None:
            self.rich.stop()
        self.steps, self.loss, self.scores = steps, float("nan"), ""
        if sys.stderr.isatty() and not self.quiet:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn(self.title, markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[figures]}", markup=False),
            )
            self.rich = Progress(*columns, console=Console(stderr=True), transient=True)
            self.rich.start()
            self.task = self.rich.add_task(self.title, total=steps, completed=done, figures="")
        if done and not self.quiet:
            print(f"{self.title}: goes on after step {done:,} of {steps:,}", file=sys.stderr, flush=True)

    def watch(self, event: Any) -> None:
        """A step, or the scores of an evaluation: a dict, or an epoch."""
        if not hasattr(event, "rate"):
            figures = event if isinstance(event, dict) else vars(event)
            named = {"epoch" if name == "number" else name.replace("_", " "): value for name, value in figures.items()}
            self.scores = ", ".join(f"{name} {value:.4g}" for name, value in named.items())
            if self.rich is None and not self.quiet:
                print(f"{self.title}: {self.scores}", file=sys.stderr, flush=True)
            return
        self.loss = event.loss if self.loss != self.loss else 0.9 * self.loss + 0.1 * event.loss
        self.recent.append((event.seconds, event.tokens))
        figures = f"loss {self.loss:.3f}  rate {event.rate:.1e}  {self._speed():,.0f} tokens/s"
        if self.rich is not None:
            self.rich.update(self.task, completed=event.number, figures=f"{figures}  {self.scores}")
        elif not self.quiet and time.monotonic() - self.said > EVERY:
            self.said = time.monotonic()
            seconds = sum(s for s, _ in self.recent) / len(self.recent) * (self.steps - event.number)
            left = f"{seconds / 60:.0f} min left"
            print(
                f"{self.title}: step {event.number:,} of {self.steps:,}  {figures}  {left}", file=sys.stderr, flush=True
            )

    def _speed(self) -> float:
        return sum(tokens for _, tokens in self.recent) / max(1e-9, sum(seconds for seconds, _ in self.recent))

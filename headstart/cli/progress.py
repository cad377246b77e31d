"""How far a long job has come: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Self

EVERY = 15.0  # seconds between two lines where there is no terminal


class Bar:
    """Counts units; shows itself on stderr, so that stdout stays clean for a pipe."""

    def __init__(self, title: str, total: int | None, unit: str = ""):
        self.title, self.total, self.unit = title, total, unit
        self.done, self.started, self.said = 0, time.monotonic(), time.monotonic()
        self.rich: Any = None
        self.task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            amount = DownloadColumn() if self.unit == "bytes" else MofNCompleteColumn()
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), amount, TimeRemainingColumn())
            self.rich = Progress(*columns, console=Console(stderr=True), transient=True)
            self.rich.start()
            self.task = self.rich.add_task(self.title, total=self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.rich is not None:
            self.rich.stop()

    def advance(self, amount: int = 1) -> None:
        self.done += amount
        if self.rich is not None:
            self.rich.advance(self.task, amount)
        elif time.monotonic() - self.said >= EVERY:
            self.said = time.monotonic()
            share = f" ({self.done / self.total:.0%})" if self.total else ""
            print(f"{self.title}: {self.done:,} {self.unit}{share}", file=sys.stderr, flush=True)

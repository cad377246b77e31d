"""Ctrl-C, a polite kill and a terminal that goes away end a run after the step that is under way."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupted(BaseException):
    """The run was asked to stop, and has been saved."""


class Stopper:
    """`asked` turns true at the first signal; a second one stops at once."""

    SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

    def __init__(self) -> None:
        self.asked = False
        self.before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.before = {number: signal.signal(number, self._hear) for number in self.SIGNALS if not _unheard(number)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def _unheard(number: signal.Signals) -> bool:
    """nohup asks for a run that outlives its terminal."""
    return number != signal.SIGINT and signal.getsignal(number) == signal.SIG_IGN

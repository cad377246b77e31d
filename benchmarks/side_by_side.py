"""Contenders take turns, each in a process of its own, so that a busy moment hits all of them alike."""

import importlib
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_memory
from benchmarks.texts import QUICK, Texts

ROOT = Path(__file__).parents[1]
WARM_UP = 0.1  # of a repeat, not timed
SHORTEST = 2.0  # seconds of a repeat: a short job is done again, so that no moment decides
BARE = "import torch; from benchmarks.memory import peak_memory; print(peak_memory())"


@dataclass(frozen=True)
class Contender:
    """`job` is a function of benchmarks.peers.`peer`."""

    name: str
    peer: str
    job: str


@dataclass(frozen=True)
class Result:
    """What was done a second in each repeat, and the peak memory above that of a bare `import torch`."""

    contender: str
    rates: tuple[float, ...]
    memory: int


def measure(
    contenders: Sequence[Contender], texts: Texts, repeats: int, say: Callable[[str], None] = print
) -> dict[str, Result]:
    """Each contender's rates by its name; one that fails is told of and left out."""
    bare = bare_memory()
    running = [_Process(contender, texts) for contender in contenders]
    running = [process for process in running if _ready(process, say)]
    for _ in range(repeats):
        for process in running:
            process.repeat()
    return {process.contender.name: process.end(bare) for process in running}


def bare_memory() -> int:
    """Peak bytes of a process that imports torch and does nothing."""
    return int(subprocess.run([sys.executable, "-c", BARE], capture_output=True, check=True, cwd=ROOT).stdout)


class _Process:
    def __init__(self, contender: Contender, texts: Texts):
        self.contender, self.rates = contender, list[float]()
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, contender, texts), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, question: Any) -> Any:
        self.connection.send(question)
        return self.connection.recv()

    def repeat(self) -> None:
        self.rates.append(self.ask("repeat"))

    def end(self, bare: int) -> Result:
        peak = self.ask("end")
        self.process.join()
        return Result(self.contender.name, tuple(self.rates), peak - bare)


def _ready(process: _Process, say: Callable[[str], None]) -> bool:
    """One after the other, so that no warm-up disturbs another."""
    try:
        problem = process.ask("begin")
    except EOFError:
        problem = "its process ended"
    if problem:
        say(f"{process.contender.name} is left out: {problem}")
    return not problem


def _serve(connection: Connection, contender: Contender, texts: Texts) -> None:
    """Prepare, warm up, then repeat as often as asked."""
    connection.recv()
    try:
        job = getattr(importlib.import_module(f"benchmarks.peers.{contender.peer}"), contender.job)(texts)
        job(WARM_UP)
    except Exception as problem:
        connection.send(f"{type(problem).__name__}: {problem}")
        return
    connection.send("")
    while connection.recv() == "repeat":
        start, done, seconds = time.perf_counter(), 0.0, 0.0
        while not done or (seconds < SHORTEST and texts.amounts != QUICK):
            done += job(1.0)
            seconds = time.perf_counter() - start
        connection.send(done / seconds)
    connection.send(peak_memory())

"""Several arms at once, each in a process of its own: small models make better use of cores that way than together.

Parent and worker talk over a pipe. A worker hears no signals: the parent asks it to stop, and it saves its arm after
the step under way. Where the parent is gone, the pipe breaks, and the worker saves and ends likewise.
"""

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

import torch

from headstart.errors import HeadstartError, RunError
from headstart.model.bill import memory
from headstart.recipes.comparing.arms import Arm
from headstart.recipes.comparing.one_arm import Progress, Tools, train_arm
from headstart.recipes.comparing.plan import Bench, Contest
from headstart.train.device import choose_device
from headstart.train.loop import Step
from headstart.train.signals import Interrupted, Stopper

BARE = 700_000_000  # bytes of a process that has loaded torch and the rows
SHARE = 0.6  # of the machine's memory that all trainings may take together
LOOK = 0.2  # seconds between two looks at the signals


def jobs_for(contest: Contest, bench: Bench, arms: Sequence[Arm]) -> int:
    """How many arms to train at once: what was asked for, or as many as cores and memory allow. A GPU is not shared."""
    neural = max(1, sum(arm.neural for arm in arms))
    if contest.jobs:
        return min(contest.jobs, neural)
    if choose_device(contest.device).type != "cpu":
        return 1
    shape, rows = bench.card.shape, bench.settings.finetune.rows
    each = BARE + memory(shape, "classify", rows=rows, length=shape.context).total
    return max(1, min(torch.get_num_threads(), neural, int(SHARE * _memory() / each)))


def train_side_by_side(
    arms: Sequence[Arm],
    jobs: int,
    bench: Bench,
    contest: Contest,
    progress: Progress,
    tools: Tools,
    finished: Callable[[Arm], None],
) -> None:
    """Train all arms, `jobs` at a time. A signal, or an arm that fails, lets the others save themselves first."""
    shares = _Shares(arms, jobs, progress)
    left, failed, stopped = list(range(len(arms))), None, False
    with Stopper() as stopper, _started(jobs) as workers:
        while any(worker.arm is not None for worker in workers) or (left and not stopped):
            for worker in _speaking(workers):
                try:
                    what, number, said = worker.pipe.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    failed = failed or (None if stopped else _died(worker, arms))
                    continue
                if what == "step":
                    shares.hear(number, *said)
                    continue
                worker.arm = None
                if what == "ready":
                    worker.send((bench, contest, arms, tools))
                elif what == "done":
                    shares.hear(number, 1.0)
                    finished(arms[number])
                elif what == "failed":
                    failed = failed or said
                if left and not stopped and not failed:
                    worker.arm = left.pop(0)
                    worker.send(worker.arm)
            if (failed or stopper.asked) and not stopped:
                stopped = True
                for worker in workers:
                    worker.send(None)
    if failed:
        raise failed
    if stopped:
        raise Interrupted("the trainings under way are saved")


@dataclass(eq=False)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    arm: int | None = None  # under way

    def send(self, message: Any) -> None:
        """To one that has died, nothing: its end of the pipe says so when it is read."""
        with suppress(OSError):
            self.pipe.send(message)


@contextmanager
def _started(jobs: int) -> Iterator[list[_Worker]]:
    """Worker processes, which end with the context: at once if an error ends it, else when their pipes close."""
    spawn, threads = multiprocessing.get_context("spawn"), max(1, torch.get_num_threads() // jobs)
    workers: list[_Worker] = []
    started: list[_Worker] = []
    try:
        with _deaf():
            for _ in range(jobs):
                ours, theirs = spawn.Pipe()
                process = spawn.Process(target=_work, args=(theirs, threads), daemon=True)
                process.start()
                theirs.close()
                workers.append(_Worker(process, ours))
        started = list(workers)
        yield workers
    except BaseException:
        for worker in workers:
            worker.process.kill()
        raise
    finally:
        for worker in started or workers:
            worker.pipe.close()
            worker.process.join()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that start here hear neither Ctrl-C nor a polite kill; ours are only put off."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows: there a Ctrl-C reaches all, and each saves itself
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, Stopper.SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _speaking(workers: list[_Worker]) -> list[_Worker]:
    heard = wait([worker.pipe for worker in workers], LOOK)
    return [worker for worker in workers if worker.pipe in heard]


def _died(worker: _Worker, arms: Sequence[Arm]) -> RunError:
    which = "a training" if worker.arm is None else arms[worker.arm].name
    return RunError(
        f"{which}: its process died, perhaps for want of memory; finished arms are kept, go on with --resume --jobs 1"
    )


class _Shares:
    """Puts the steps of all workers together into one progress, counted in texts."""

    def __init__(self, arms: Sequence[Arm], jobs: int, progress: Progress):
        self.texts = [arm.epochs * len(arm.rows) if arm.neural else 0 for arm in arms]
        self.jobs, self.progress, self.read = jobs, progress, [0.0] * len(arms)
        progress.begin(sum(self.texts), 0)

    def hear(self, number: int, share: float, step: Step | None = None) -> None:
        self.read[number] = share * self.texts[number]
        if step is not None:
            self.progress.watch(replace(step, number=round(sum(self.read)), seconds=step.seconds / self.jobs))


class _Tell:
    """In a worker: what it says of its training. Where it is asked to stop, it does so as at a Ctrl-C."""

    def __init__(self, number: int, pipe: Connection, trainings: int):
        self.number, self.pipe, self.trainings, self.begun, self.steps = number, pipe, trainings, 0, 1

    def begin(self, steps: int, done: int) -> None:
        self.begun, self.steps = self.begun + 1, max(1, steps)

    def watch(self, event: Any) -> None:
        if isinstance(event, Step):
            share = (self.begun - 1 + event.number / self.steps) / self.trainings
            self.pipe.send(("step", self.number, (share, event)))
            if self.pipe.poll():
                raise KeyboardInterrupt


def _work(pipe: Connection, threads: int) -> None:
    """The life of a worker: arms come by their number, until nothing comes or the parent is gone."""
    torch.set_num_threads(threads)
    with suppress(EOFError, OSError):
        pipe.send(("ready", 0, None))
        if (given := pipe.recv()) is None:
            return
        bench, contest, arms, tools = given
        while (number := pipe.recv()) is not None:
            pipe.send(_train(number, pipe, bench, contest, arms[number], tools))


def _train(
    number: int, pipe: Connection, bench: Bench, contest: Contest, arm: Arm, tools: Tools
) -> tuple[str, int, Exception | None]:
    try:
        tell = _Tell(number, pipe, trainings=2 if bench.unlabelled else 1)  # a teacher before the student
        train_arm(arm, bench, contest, tell, tools)
    except KeyboardInterrupt:
        return "stopped", number, None
    except HeadstartError as problem:
        return "failed", number, type(problem)(f"{arm.name}: {problem}")
    except Exception as problem:
        traceback.print_exc(file=sys.stderr)
        return "failed", number, RuntimeError(f"{arm.name}: {problem!r}")
    return "done", number, None


def _memory() -> float:
    """Bytes of this machine; without end where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")

"""Several arms at once, each in a process of its own: small models make better use of cores that way than together."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any

import torch

from headstart.errors import RunError
from headstart.recipes.comparing.arms import Arm
from headstart.recipes.comparing.one_arm import Progress, Tools, train_arm
from headstart.recipes.comparing.plan import Bench, Contest
from headstart.train.device import choose_device
from headstart.train.loop import Step
from headstart.train.signals import Interrupted, Stopper

MOST = 8  # processes, each of which has torch, a model and the rows in memory
LOOK = 0.2  # seconds between two looks at what the workers say
_worker: dict[str, Any] = {}  # what one worker process knows


def jobs_for(contest: Contest, arms: int) -> int:
    """How many arms to train at once. Several share no accelerator, so there it is one."""
    if contest.jobs == 0:
        cores = torch.get_num_threads() if choose_device(contest.device).type == "cpu" else 1
        return max(1, min(cores, arms, MOST))
    return min(contest.jobs, max(1, arms))


def train_side_by_side(
    arms: Sequence[Arm],
    jobs: int,
    bench: Bench,
    contest: Contest,
    progress: Progress,
    finished: Callable[[Arm], None],
) -> None:
    """Train all arms, `jobs` at a time. A signal, or an arm that fails, lets the others save themselves first."""
    spawn = multiprocessing.get_context("spawn")
    said, threads = spawn.Queue(), max(1, torch.get_num_threads() // jobs)
    pool = ProcessPoolExecutor(jobs, spawn, _begin, (bench, contest, threads, arms, said))
    shares = _Shares(arms, jobs, progress)
    stopped = False
    try:
        with Stopper() as stopper:
            futures = {pool.submit(_train, number): arm for number, arm in enumerate(arms)}
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, LOOK, FIRST_COMPLETED)
                while not said.empty():
                    shares.hear(*said.get())
                for future in done:
                    _check(future, futures[future], stopped)
                    finished(futures[future])
                if stopper.asked and not stopped:
                    stopped = True
                    _stop(pool)
    except BaseException:
        if not stopped:
            _stop(pool)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _check(future: "Future[None]", arm: Arm, stopped: bool) -> None:
    try:
        future.result()
    except BrokenProcessPool:
        if stopped:
            raise Interrupted("finished arms are kept") from None
        raise RunError(
            f"{arm.name}: its process died, perhaps for want of memory; finished arms are kept, "
            "go on with --resume --jobs 1"
        ) from None


def _stop(pool: ProcessPoolExecutor) -> None:
    """Once: a second signal would end a training before it is saved."""
    for process in list((pool._processes or {}).values()):
        if process.is_alive() and process.pid:
            os.kill(process.pid, signal.SIGTERM)


class _Shares:
    """Puts the steps of all workers together into one progress, counted in texts."""

    def __init__(self, arms: Sequence[Arm], jobs: int, progress: Progress):
        self.texts = [arm.epochs * len(arm.rows) if arm.neural else 0 for arm in arms]
        self.jobs, self.progress, self.read = jobs, progress, [0.0] * len(arms)
        progress.begin(sum(self.texts), 0)

    def hear(self, number: int, share: float, step: Step) -> None:
        self.read[number] = share * self.texts[number]
        self.progress.watch(replace(step, number=round(sum(self.read)), seconds=step.seconds / self.jobs))


class _Tell:
    """What a worker says of its training: the share that is done, and the last step."""

    def __init__(self, number: int, said: Any):
        self.number, self.said, self.steps = number, said, 1

    def begin(self, steps: int, done: int) -> None:
        self.steps = max(1, steps)

    def watch(self, event: Any) -> None:
        if isinstance(event, Step):
            self.said.put((self.number, event.number / self.steps, event))


def _begin(bench: Bench, contest: Contest, threads: int, arms: Sequence[Arm], said: Any) -> None:
    """In a worker. A Ctrl-C reaches only the parent, which passes it on once; with the parent goes the worker."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    said.cancel_join_thread()
    torch.set_num_threads(threads)
    _worker.update(bench=bench, contest=contest, arms=arms, said=said)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _train(number: int) -> None:
    arm = _worker["arms"][number]
    train_arm(arm, _worker["bench"], _worker["contest"], _Tell(number, _worker["said"]), Tools())

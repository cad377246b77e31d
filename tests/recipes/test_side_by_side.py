"""Arms that are trained at once are those trained one after the other, and a signal loses none of them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recipes.pretend import request

from headstart.errors import ConfigError, RunError
from headstart.recipes.compare import compare
from headstart.recipes.comparing.plan import Request
from headstart.recipes.settings import Settings
from headstart.train.settings import FineTuning

FIRST = ("pretrained-seed-0", "scratch-seed-0")


def small(folder: Path, epochs: int) -> Request:
    settings = Settings(finetune=FineTuning(epochs=epochs))
    return request(folder, seeds=(0, 1), label_counts=(), settings=settings)


def answers(out: Path, arm: str) -> np.ndarray:
    return np.array(json.loads((out / "arms" / arm / "test.json").read_text("utf-8"))["probabilities"])


def test_side_by_side_gives_what_one_after_the_other_gives(tmp_path: Path) -> None:
    alone = small(tmp_path, epochs=2)
    compare(alone)
    said: list[str] = []
    beside = replace(alone, jobs=2, out=tmp_path / "beside")
    compare(beside, say=said.append)
    for arm in ("pretrained-seed-0", "scratch-seed-1", "words"):
        assert answers(beside.out, arm) == pytest.approx(answers(alone.out, arm), abs=1e-5)
        assert any(f": {arm}: validation accuracy" in line for line in said)


def started(asked: Request, *, seeds: int) -> "tuple[list[str], subprocess.Popen[str]]":
    """The command, and its process after both of the first arms have taken some steps."""
    command = [sys.executable, "-m", "headstart", "compare", asked.train, "--from", str(asked.run)]
    command += ["--valid", asked.valid, "--test", asked.test, "--out", str(asked.out)]
    command += ["--epochs", "40", "--seeds", str(seeds), "--jobs", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    journals = [asked.out / "arms" / name / "metrics.jsonl" for name in FIRST]
    until = time.monotonic() + 200
    while not all(journal.exists() and journal.read_text().count("\n") > 20 for journal in journals):
        assert process.poll() is None
        if time.monotonic() > until:
            process.kill()
        time.sleep(0.05)
    return command, process


def saved(asked: Request) -> bool:
    return all((asked.out / "arms" / name / "last" / "memory.json").is_file() for name in FIRST)


def test_a_signal_saves_the_arms_under_way_and_begins_no_other(tmp_path: Path) -> None:
    asked = small(tmp_path, epochs=40)
    command, process = started(asked, seeds=2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=100)
    assert process.returncode == 130
    assert "--resume" in said
    assert saved(asked)
    assert {path.name for path in (asked.out / "arms").iterdir()} == set(FIRST)
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (asked.out / "scores.json").is_file()


def test_workers_save_their_arms_when_the_parent_is_gone(tmp_path: Path) -> None:
    asked = small(tmp_path, epochs=40)
    _, process = started(asked, seeds=1)
    process.kill()
    process.communicate()
    until = time.monotonic() + 100
    while not saved(asked):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_worker_that_dies_ends_the_comparison_with_a_reason(tmp_path: Path) -> None:
    asked = replace(small(tmp_path, epochs=400), jobs=2, seeds=(0,))

    children = Path(f"/proc/self/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("this system does not say which processes are ours")
    before = set(children.read_text().split())

    class Killer:
        def begin(self, steps: int, done: int) -> None:
            """The work begins."""

        def watch(self, event: object) -> None:
            for pid in set(children.read_text().split()) - before:
                if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(int(pid), signal.SIGKILL)
                    return

    with pytest.raises(RunError, match="--resume --jobs 1"):
        compare(asked, show=lambda title: nullcontext(Killer()))


def test_fewer_jobs_than_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--jobs"):
        replace(small(tmp_path, epochs=1), jobs=-1)

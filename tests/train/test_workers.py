"""Two gloo processes learn what one does, and a dead one costs nothing that was saved."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from train.small_corpus import small_corpus

from headstart.whole import find_whole

SHAPE = [
    "model.vocabulary=320", "model.width=16", "model.depth=2", "model.heads=2", "model.hidden=32",
    "model.dropout=0.0", "model.embedding_dropout=0.0", "data.rows=5", "data.length=16", "train.save_every=5",
    "train.evaluate_every=10", "data.holdout=0.05", "train.accumulate=2",
]  # fmt: skip


def command(workers: int, corpus: str, out: Path, steps: int) -> list[str]:
    words = [
        "-m",
        "headstart",
        "pretrain",
        corpus,
        "--out",
        str(out),
        "--steps",
        str(steps),
        "--device",
        "cpu",
        "--resume",
    ]
    words += [word for option in SHAPE for word in ("--set", option)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    start = ["-m", "torch.distributed.run", "--nproc-per-node", str(workers), "--master-port", port]
    return [sys.executable, *(start if workers > 1 else []), *words]


def pretrain(workers: int, corpus: str, out: Path, steps: int = 20) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command(workers, corpus, out, steps), capture_output=True, text=True, check=False, env=environment, timeout=240
    )
    assert done.returncode == 0, done.stderr


def losses(out: Path) -> list[float]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line.get("loss", line.get("held_out_loss")) for line in lines]


def test_two_workers_match_one(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    pretrain(1, corpus, tmp_path / "one")
    pretrain(2, corpus, tmp_path / "two")
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=2e-4)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_dead_worker_ends_the_run_and_one_goes_on_for_two(tmp_path: Path) -> None:
    corpus, out, steps = small_corpus(tmp_path), tmp_path / "run", 150
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command(2, corpus, out, steps), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while not (out / "last").is_dir() and time.monotonic() < deadline:
            time.sleep(0.05)
        workers = [child for child in psutil.Process(process.pid).children() if "headstart" in child.cmdline()]
        assert len(workers) == 2
        workers[1].send_signal(signal.SIGKILL)
        assert process.wait(timeout=120) != 0
    finally:
        for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
            child.kill()
        process.kill()
    find_whole(out / "last")
    assert len(losses(out)) < steps
    pretrain(1, corpus, out, steps)
    pretrain(1, corpus, tmp_path / "whole", steps)
    assert losses(out) == pytest.approx(losses(tmp_path / "whole"), abs=2e-3)

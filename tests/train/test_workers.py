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
import torch
from recipes.small_pairs import small_pairs
from train.small_corpus import small_corpus

from headstart.checkpoint import load
from headstart.whole import find_whole

SHAPE = [
    "model.vocabulary=320", "model.width=16", "model.depth=2", "model.heads=2", "model.hidden=32",
    "model.dropout=0.0", "model.embedding_dropout=0.0", "data.rows=5", "data.length=16", "train.save_every=5",
    "train.evaluate_every=10", "data.holdout=0.05", "train.accumulate=2",
]  # fmt: skip


def command(workers: int, *words: str) -> list[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    start = ["-m", "torch.distributed.run", "--nproc-per-node", str(workers), "--master-port", port]
    return [sys.executable, *(start if workers > 1 else []), "-m", "headstart", *words, "--device", "cpu", "--resume"]


def pretraining(corpus: str, out: Path, steps: int) -> list[str]:
    sets = [word for option in SHAPE for word in ("--set", option)]
    return ["pretrain", corpus, "--out", str(out), "--steps", str(steps), *sets]


def run(workers: int, *words: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command(workers, *words), capture_output=True, text=True, check=False, env=environment, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert "FutureWarning" not in done.stderr
    return done.stdout


def pretrain(workers: int, corpus: str, out: Path, steps: int = 20) -> None:
    run(workers, *pretraining(corpus, out, steps))


def losses(out: Path) -> list[float]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line.get("loss", line.get("held_out_loss")) for line in lines]


def test_two_workers_match_one(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    pretrain(1, corpus, tmp_path / "one")
    pretrain(2, corpus, tmp_path / "two")
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=2e-4)


def test_two_workers_train_the_same_translator(tmp_path: Path) -> None:
    """What is written runs past the table of positions, which then grows."""
    train, valid = small_pairs(tmp_path, "train", 300, 0), small_pairs(tmp_path, "valid", 30, 1)
    sets = [option for option in SHAPE if not option.startswith("data.")]
    sets += ["model.context=6", "translator.tokens=256", "translator.average=3", "train.rate=1e-2"]
    sets += ["translator.choice=held_out_loss"]  # of two models that write alike, BLEU would choose by chance
    for workers in (1, 2):
        words = ["translator", train, "--valid", valid, "--out", str(tmp_path / str(workers)), "--steps", "20"]
        said = run(workers, *words, *[word for option in sets for word in ("--set", option)], "--json")
        assert json.loads(said)["steps"] == 20, "one of the workers speaks"
    assert losses(tmp_path / "2") == pytest.approx(losses(tmp_path / "1"), abs=2e-4)
    one, two = (load(tmp_path / name) for name in ("1", "2"))
    assert two.card.scores["bleu"] == pytest.approx(one.card.scores["bleu"], abs=0.5)
    assert (one.card.step, "averaged" in one.card.scores) == (two.card.step, "averaged" in two.card.scores)
    for mine, theirs in zip(one.model.parameters(), two.model.parameters()):
        torch.testing.assert_close(mine, theirs, atol=1e-3, rtol=1e-2)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_dead_worker_ends_the_run_and_one_goes_on_for_two(tmp_path: Path) -> None:
    corpus, out, steps = small_corpus(tmp_path), tmp_path / "run", 150
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command(2, *pretraining(corpus, out, steps)),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
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

"""Two gloo processes learn what one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from train.small_corpus import small_corpus


def pretrain(workers: int, corpus: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    options = [
        "model.vocabulary=320", "model.width=16", "model.depth=2", "model.heads=2", "model.hidden=32",
        "model.dropout=0.0", "model.embedding_dropout=0.0", "data.rows=5", "data.length=16", "train.save_every=5",
        "train.evaluate_every=10", "data.holdout=0.05", "train.accumulate=2",
    ]  # fmt: skip
    words = ["-m", "headstart", "pretrain", corpus, "--out", str(out), "--steps", "20", "--device", "cpu"]
    words += [word for option in options for word in ("--set", option)]
    words += more
    start = ["-m", "torch.distributed.run", "--nproc-per-node", str(workers), "--master-port", "29511"]
    command = [sys.executable, *(start if workers > 1 else []), *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=240)


def losses(out: Path) -> list[float]:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line.get("loss", line.get("held_out_loss")) for line in lines]


def test_two_workers_match_one_and_one_goes_on_for_two(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    one = pretrain(1, corpus, tmp_path / "one")
    assert one.returncode == 0, one.stderr
    two = pretrain(2, corpus, tmp_path / "two")
    assert two.returncode == 0, two.stderr
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=2e-4)

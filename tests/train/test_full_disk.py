"""A disk that is really full: a clear end in mid-run, the old checkpoint whole, and --resume once there is room."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from train.small_corpus import small_corpus, small_settings
from train.test_resume import go, weights

from headstart.checkpoint import load
from headstart.config import to_table

STEPS = 40
MEGABYTES = 8

COMMAND = """
import sys
from pathlib import Path
from headstart.cli import main
from headstart.recipes.running import training
from headstart.train.loop import fit

ballast, fills_at = Path(sys.argv.pop(1)), int(sys.argv.pop(1))

def filling(*words, **named):
    for step in fit(*words, **named):
        yield step
        if step.number == fills_at:
            with ballast.open("wb", buffering=0) as file:
                try:
                    while file.write(bytes(1024)):
                        pass
                except OSError:
                    pass

training.fit = filling
main()
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("only root may mount a small file system")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def command(corpus: str, run: Path, fills_at: int) -> subprocess.CompletedProcess[str]:
    words = ["pretrain", corpus, "--out", str(run), "--steps", str(STEPS), "--seed", "3", "--device", "cpu", "--resume"]
    for section, table in to_table(small_settings()).items():
        for name, value in table.items():
            words += ["--set", f"{section}.{name}={json.dumps(value)}"]
    words = [sys.executable, "-c", COMMAND, str(run.parent / "ballast"), str(fills_at), *words]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_full_disk_loses_nothing_that_was_saved(tmp_path: Path, small_disk: Path) -> None:
    corpus, run = small_corpus(tmp_path), small_disk / "run"
    ended = command(corpus, run, fills_at=12)
    assert ended.returncode == 2, ended.stderr
    said = " ".join(ended.stderr.split())
    assert f"{run / 'last'}: the disk is full" in said
    assert "run the same command with --resume" in said
    assert "Traceback" not in said
    assert load(run / "last").card.step == 10
    (small_disk / "ballast").unlink()
    go(run, corpus, resume=True)
    go(tmp_path / "whole", corpus)
    assert weights(run) == weights(tmp_path / "whole")

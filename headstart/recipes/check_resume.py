"""Prove on the user's own set-up that a killed and resumed run ends with the bytes of an uninterrupted one."""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headstart.checkpoint import find, read_card
from headstart.errors import RunError
from headstart.recipes.running.training import ignore
from headstart.train.journal import Journal
from headstart.whole import find_whole, sha256

FILES = (
    ("last", "model.safetensors"),
    ("last", "moments.safetensors"),
    ("best", "model.safetensors"),
    ("best", "card.json"),  # with the scores on validation
)
PATIENCE = 600.0  # seconds for one step


@dataclass(frozen=True)
class Proof:
    """Hashes of weights, optimiser and scores after an uninterrupted run, and after one that was killed at `killed_at`.

    `scores` are those of the uninterrupted one's best model.
    """

    steps: int
    killed_at: tuple[int, ...]
    whole: dict[str, str]
    resumed: dict[str, str]
    scores: dict[str, float]

    @property
    def holds(self) -> bool:
        return self.whole == self.resumed


def check_resume(
    command: Literal["pretrain", "translator"],
    files: Sequence[str],
    options: Sequence[str],
    *,
    steps: int = 12,
    kills: int = 2,
    seed: int | None = None,
    say: Callable[[str], None] = ignore,
) -> Proof:
    """Train `steps` twice by the same command; kill the second run `kills` times.

    A pretraining without files gets a text that is made up. Kills come at random steps, some past the last save, so
    that work is lost and has to be done again.
    """
    if kills < 1:
        raise RunError(f"--kills {kills}: nothing is proven by a run that is never killed; type --kills 2")
    if steps < kills + 2:
        raise RunError(f"--steps {steps}: too few to be killed {kills} times; type --steps {kills + 10}")
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="headstart-") as folder:
        texts = list(files) or [_some_text(Path(folder) / "corpus.txt")]
        words = [sys.executable, "-m", "headstart", command, *texts, "--steps", str(steps), "--resume"]
        words += ["--save-every", "3", *options]
        whole, resumed = Path(folder) / "whole", Path(folder) / "resumed"
        say(f"An uninterrupted run of {steps} steps.")
        _run(words, whole)
        places = sorted(draw.sample(range(2, steps), kills))
        for place in places:
            say(f"Killed at step {place}, then resumed.")
            _kill_at(words, resumed, place)
        _run(words, resumed)
        scores = read_card(find(whole)).scores
        return Proof(steps, tuple(places), _hashes(whole), _hashes(resumed), scores)


def _run(words: list[str], out: Path) -> None:
    done = subprocess.run([*words, "--out", str(out)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"the training itself failed: {done.stderr.strip().splitlines()[-1] if done.stderr else ''}")


def _kill_at(words: list[str], out: Path, step: int) -> None:
    """SIGKILL, as a power cut would, as soon as the run itself has written `step` to the journal.

    What an earlier run left in it does not count: a run that goes on puts another file in its place.
    """
    journal, started = Journal(out / "metrics.jsonl"), time.monotonic()
    before = _number(journal.path)
    process = subprocess.Popen([*words, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and (
            _number(journal.path) == before or not any(line["step"] >= step for line in journal.read())
        ):
            if time.monotonic() - started > PATIENCE:
                raise RunError(f"no step {step} within {PATIENCE:.0f} seconds")
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()


def _number(file: Path) -> int:
    """By which the system knows a file; 0 where there is none."""
    return file.stat().st_ino if file.is_file() else 0


def _hashes(run: Path) -> dict[str, str]:
    return {f"{model}/{name}": sha256(find_whole(run / model) / name) for model, name in FILES}


def _some_text(path: Path) -> str:
    """Enough text for a few steps, made up."""
    draw = random.Random(0)
    words = ["".join(draw.choices("aeioulmnrstdp", k=draw.randint(2, 9))) for _ in range(400)]
    lines = (" ".join(draw.choices(words, k=draw.randint(20, 80))) for _ in range(600))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)

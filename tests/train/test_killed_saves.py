"""A process that dies while it saves leaves a state to go on from, wherever in the save it dies."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from model.shapes import model_of
from torch import Tensor

from headstart.checkpoint import load
from headstart.train.keeping import go_on
from headstart.train.optimiser import adamw, moments

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
ENDLESS = 0

SERVER = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
os.fsync = lambda handle: None  # slow, and of no account to a process that dies alone
sys.path.insert(0, sys.argv[2])
from model.shapes import model_of, small
from headstart.checkpoint import Card
from headstart.text.subwords import train_tokenizer
from headstart.train.keeping import Memory, keep
from headstart.train.optimiser import adamw, set_rate

folder = Path(sys.argv[1])
model, tokenizer = model_of("lm"), train_tokenizer(["a few words", "for a tokenizer"] * 20, 280)
optimiser = adamw(model, weight_decay=0.0, betas=(0.9, 0.99))
model(torch.zeros(1, 3, dtype=torch.long)).sum().backward()
set_rate(optimiser, 0.0, 0)
optimiser.step()

def save(number):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(number)
            optimiser.state[parameter]["exp_avg"].fill_(number)
    keep(folder, model, Card(task="lm", shape=small()), tokenizer, optimiser, Memory(step=number))
    print("saved", number, flush=True)

def save_on(number, dies_at):
    left = 0
    def count_down(event, words):
        nonlocal left
        if left and event.split(".")[0] in ("open", "os", "shutil"):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count_down)
    print("child", os.getpid(), flush=True)
    left = dies_at
    while True:
        save(number)
        number += 1
        if left:
            print("survived", flush=True)
            return

save(0)
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        try:
            save_on(*map(int, line.split()))
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    print("gone", flush=True)
"""


class Saver:
    """Children that save one state after the other, each with its number in every weight, until they die."""

    def __init__(self, run: Path):
        words = [sys.executable, "-c", SERVER, str(run / "last"), str(Path(__file__).parents[1])]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.run, self.saved, self.survived = run, 0, False
        assert self._hear() == ["saved", "0"]
        self.model = model_of("lm")
        self.optimiser = adamw(self.model, weight_decay=0.0, betas=(0.9, 0.99))

    def start(self, dies_at: int) -> int:
        """A child that dies at this file operation of its save, or saves on until it is killed. -> its process id"""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{self.saved + 1} {dies_at}\n")
        word, pid = self._hear()
        assert word == "child"
        return int(pid)

    def bury(self) -> None:
        while (said := self._hear())[0] != "gone":
            if said[0] == "saved":
                self.saved = int(said[1])
            self.survived |= said[0] == "survived"

    def check(self) -> None:
        """What is there is the last state that was saved or the one after it, and all of one piece."""
        saved = load(self.run)
        memory = go_on(self.run / "last", self.model, self.optimiser)
        assert self.saved <= memory.step <= self.saved + 1
        assert saved.card.step == memory.step
        tensors: list[Tensor] = [*saved.model.parameters(), *self.model.parameters()]
        tensors += [value for name, value in moments(self.model, self.optimiser).items() if "exp_avg/" in name]
        assert {number for tensor in tensors for number in tensor.unique().tolist()} == {memory.step}
        self.saved = memory.step

    def _hear(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()


@pytest.fixture(scope="module")
def saver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saver]:
    saver = Saver(tmp_path_factory.mktemp("run"))
    yield saver
    assert saver.process.stdin is not None
    saver.process.stdin.close()
    assert saver.process.wait() == 0


def test_killed_at_every_file_operation_of_a_save(saver: Saver) -> None:
    dies_at = 0
    while not saver.survived:
        dies_at += 1
        saver.start(dies_at)
        saver.bury()
        saver.check()
    assert dies_at > 30


def test_killed_at_random_moments(saver: Saver) -> None:
    draw = random.Random(0)
    for _ in range(40):
        pid = saver.start(ENDLESS)
        time.sleep(draw.random() * 0.06)
        os.kill(pid, signal.SIGKILL)
        saver.bury()
        saver.check()

"""A made language in which one word has two meanings, and a small masked model that has read it."""

import atexit
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from data.made_tokens import stored
from model.shapes import small

from headstart.checkpoint import Card, build, save
from headstart.data.batch import IGNORED
from headstart.data.masked import MaskedWindows
from headstart.model.init import initialise
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

MEANINGS = {
    "river": ["fish", "boat", "duck", "water", "reeds", "swam", "floated", "drifted", "wet", "muddy"],
    "money": ["clerk", "loan", "coin", "thief", "cheque", "paid", "counted", "robbed", "rich", "safe"],
}
FREE = ["the", "a", "and", "old", "was", "by"]  # in both
STEPS = 200


def sentence(meaning: str, draw: random.Random) -> str:
    """The planted word, `bank`, stands anywhere; what it means shows in the other words only, in no fixed order."""
    words = [*draw.sample(MEANINGS[meaning], 5), *draw.sample(FREE, 3), "bank"]
    draw.shuffle(words)
    return " ".join(words) + "."


def sentences(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Texts, and the meaning of `bank` in each."""
    draw = random.Random(seed)
    meanings = [draw.choice(list(MEANINGS)) for _ in range(count)]
    return [sentence(meaning, draw) for meaning in meanings], meanings


@cache
def tokenizer() -> Tokenizer:
    return train_tokenizer(sentences(400, 0)[0], 400)


@cache
def masked_run() -> Path:
    """Trained once, in seconds, for all tests that only read it."""
    torch.manual_seed(0)
    cutter = tokenizer()
    shape = small(vocabulary=cutter.size, width=32, heads=2, hidden=64, context=32, norm="pre", positions="rotary")
    model = build("masked", shape)
    initialise(model)
    texts, _ = sentences(2_000, 1)
    windows = MaskedWindows(stored(cutter.encode_batch(texts)), 32, 16, 0, cutter)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    for step in range(STEPS):
        batch = windows.batch(*divmod(step, windows.steps(0)))
        chosen = batch.targets != IGNORED
        x = model.get_submodule("body")(batch.ids, documents=batch.documents, positions=batch.positions)
        F.cross_entropy(model.get_submodule("head")(x[chosen]), batch.targets[chosen]).backward()
        optimiser.step()
        optimiser.zero_grad()
    folder = Path(tempfile.mkdtemp(prefix="headstart-planted-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    save(folder / "best", model, Card(task="masked", shape=shape, causal=False), cutter)
    return folder

"""In Hugging Face's Marian classes our translator gives the same scores, and its beam finds the same translations."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from benchmarks.decoding import decoders
from benchmarks.peers.marian import as_marian, fits
from headstart.checkpoint import build
from headstart.generate.beam import Search
from headstart.model.init import initialise
from headstart.model.models import Translator
from headstart.model.shape import Shape
from headstart.text.pieces.specials import EOS, PAD, SOS

pytest.importorskip("transformers", reason="needs Hugging Face's transformers: pip install transformers")
SHAPE = Shape(
    vocabulary=60, width=32, depth=2, heads=4, hidden=48, context=64, positions="sinusoidal", norm="post", tied=True,
    output_bias=False,
)  # fmt: skip


def drawn(count: int, seed: int) -> list[list[int]]:
    """Sources of different lengths."""
    chance = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, 12, (count,), generator=chance).tolist()
    return [[*torch.randint(4, 60, (length,), generator=chance).tolist(), EOS] for length in lengths]


@pytest.fixture(scope="module")
def ours() -> Translator:
    """It has begun to learn to copy, so that its translations end, each at a length of its own."""
    torch.manual_seed(0)
    model = build("translate", SHAPE)
    assert isinstance(model, Translator)
    initialise(model)
    for parameter in model.parameters():  # biases and norms too, so that each of them shows
        parameter.data.add_(0.05 * torch.randn_like(parameter))
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(250):
        ids = pad_sequence([torch.tensor(ids) for ids in drawn(64, step)], True, PAD)
        before = F.pad(ids[:, :-1], (1, 0), value=SOS)
        loss = F.cross_entropy(model(ids, before, ids != PAD).flatten(0, 1), ids.flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model.eval()


def test_scores_agree(ours: Translator) -> None:
    theirs: Any = as_marian(ours)
    source, target = torch.randint(4, 60, (3, 9)), torch.randint(4, 60, (3, 7))
    target[:, 0] = SOS
    real = torch.arange(9) < torch.tensor([[9], [4], [6]])
    with torch.no_grad():
        wanted = theirs(source, attention_mask=real.long(), decoder_input_ids=target).logits
        torch.testing.assert_close(ours(source, target, real), wanted, rtol=1e-4, atol=1e-4)


def test_beams_find_the_same(ours: Translator, tmp_path: Path) -> None:
    contenders, sources = decoders(ours, (), 4, tmp_path), drawn(60, 999)
    found = [decode(sources) for decode in contenders.values()]
    longest = min(Search().longest(len(source)) for source in sources)
    ended = [row for row in zip(*found) if max(map(len, row)) + 1 < longest]  # theirs have another limit
    assert len(ended) > 40
    assert len({len(row[0]) for row in ended}) > 5, "of many lengths, or the test shows little"
    assert all(row == (row[0],) * len(row) for row in ended)


def test_other_shapes_are_told_of() -> None:
    model = build("translate", Shape(**{**vars(SHAPE), "norm": "pre"}))
    assert isinstance(model, Translator)
    assert fits(model) == "model.norm is pre"

"""Which layers move, when, and how far: a frozen body, one that thaws, and rates that fall from layer to layer."""

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from train.small_corpus import small_corpus, small_settings

from headstart.recipes.classify import finetune_files
from headstart.recipes.finetune import Epoch
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.stopping import StopRule

Weights = dict[str, Tensor]
DEPTH = 3
SHAPE = (f"model.depth={DEPTH}", "model.norm=pre")
PLAIN = ("finetune.rate=1e-3", "finetune.dropout=0.0", "finetune.clip=0.0", "model.embedding_dropout=0.0")


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("body")
    settings = small_settings(*SHAPE, "model.embedding_dropout=0.0")
    pretrain([small_corpus(folder)], folder / "lm", settings=settings, stop=StopRule(steps=10))
    return folder / "lm"


def finetuned(body: Path, folder: Path, *overrides: str) -> list[Weights]:
    """The weights at the end of each epoch."""
    draw = random.Random(0)
    words = ["the", "cat", "saw", "a", "garden", "rain", "sun", "never"]
    rows = [f"{'ab'[i % 2]}\t{' '.join(draw.choices(words[i % 2 :], k=9))}\n" for i in range(40)]
    folder.mkdir()
    (folder / "train.tsv").write_text("label\ttext\n" + "".join(rows))
    found: list[Weights] = []

    def watch(event: object) -> None:  # the state is saved before it is judged
        if isinstance(event, Epoch):
            found.append(load_file(folder / "run" / "last" / "model.safetensors"))

    settings = small_settings(*SHAPE, *PLAIN, *overrides)
    finetune_files(str(folder / "train.tsv"), "", folder / "run", start=body, settings=settings, watch=watch)
    return found


def part(name: str) -> str:
    """head, body.final_norm, body.embedding, body.blocks.0, …"""
    words = name.split(".")
    return words[0] if words[0] == "head" else ".".join(words[: 3 if words[1] == "blocks" else 2])


def moved(before: Weights, after: Weights) -> set[str]:
    """The parts of which every matrix, or else every tensor, has other bits; no part may have moved by half."""
    names = before.keys() & after.keys()
    other = {name for name in names if not torch.equal(before[name], after[name])}
    parts = {part(name) for name in other}
    still = [name for name in names - other if part(name) in parts and before[name].dim() > 1]
    assert not still
    return parts


def test_a_body_thaws_by_one_layer_each_epoch(body: Path, tmp_path: Path) -> None:
    start = load_file(body / "best" / "model.safetensors")
    epochs = finetuned(body, tmp_path / "thaw", "finetune.freeze=gradual", "finetune.epochs=5", "finetune.rows=8")
    awake = {"body.final_norm"}
    start = {name: value for name, value in start.items() if name in epochs[0] and name.startswith("body.")}
    assert moved(start, epochs[0]) == awake
    awake.add("head")
    for before, after, thawed in zip(
        epochs, epochs[1:], [{"body.blocks.2"}, {"body.blocks.1"}, {"body.blocks.0", "body.embedding"}, set()]
    ):
        awake |= thawed
        assert moved(before, after) == awake


def test_with_fewer_epochs_than_layers_the_lowest_never_thaw(body: Path, tmp_path: Path) -> None:
    start = load_file(body / "best" / "model.safetensors")
    last = finetuned(body, tmp_path / "thaw", "finetune.freeze=gradual", "finetune.epochs=2")[-1]
    start = {name: value for name, value in start.items() if name in last and name.startswith("body.")}
    assert moved(start, last) == {"body.final_norm", "body.blocks.2"}


def test_a_frozen_body_keeps_every_bit(body: Path, tmp_path: Path) -> None:
    start = load_file(body / "best" / "model.safetensors")
    epochs = finetuned(body, tmp_path / "frozen", "finetune.freeze=body", "finetune.epochs=3", "finetune.rows=8")
    start = {name: value for name, value in start.items() if name in epochs[0] and name.startswith("body.")}
    assert moved(start, epochs[-1]) == set()
    assert moved(epochs[0], epochs[-1]) == {"head"}


@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_the_first_step_of_each_layer_is_as_long_as_its_rate(body: Path, tmp_path: Path, decay: float) -> None:
    """Adam's first step moves each weight by the rate, whatever its gradient: so the moves show the rates."""
    one_step = ("finetune.epochs=1", "finetune.rows=100", "finetune.warmup=0.0", "finetune.weight_decay=0.0")
    layered = (f"finetune.layer_decay={decay}", *one_step)
    (before,) = finetuned(body, tmp_path / "still", *layered, "finetune.rate=1e-30")
    (after,) = finetuned(body, tmp_path / "run", *layered)
    moves: dict[str, float] = {}
    for name, value in after.items():
        moves[part(name)] = max(moves.get(part(name), 0.0), (value - before[name]).abs().max().item())
    wanted = {f"body.blocks.{i}": decay ** (DEPTH - i) for i in range(DEPTH)}
    wanted |= {"head": 1.0, "body.final_norm": 1.0, "body.embedding": decay ** (DEPTH + 1)}
    assert moves == pytest.approx({name: 1e-3 * scale for name, scale in wanted.items()}, rel=5e-3)

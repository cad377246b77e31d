"""Nothing is lost: what a run needs to go on as if it had never stopped."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

from headstart.checkpoint import Card, put, read_tensors, save, write_tensors
from headstart.errors import CheckpointError
from headstart.text.tokenizer import Tokenizer
from headstart.train.optimiser import moments, put_moments
from headstart.train.rows import RowAdamW
from headstart.whole import find_whole

MOMENTS, MEMORY = "moments.safetensors", "memory.json"


@dataclass(frozen=True)
class Memory:
    """What a run remembers beside its weights: how far it is, and what was best."""

    step: int = 0
    evaluated: int = 0  # the last step whose evaluation is known
    best: float = float("-inf")
    best_step: int = 0
    waited: int = 0  # evaluations since the best
    tokens: int = 0
    seconds: float = 0.0
    scaler: dict[str, float] = field(default_factory=dict)  # of float16 gradients

    def after(self, score: float) -> "Memory":
        """With one more evaluation, at the present step."""
        if score > self.best:
            return replace(self, evaluated=self.step, best=score, best_step=self.step, waited=0)
        return replace(self, evaluated=self.step, waited=self.waited + 1)


def keep(
    folder: Path,
    model: nn.Module,
    card: Card,
    tokenizer: Tokenizer,
    optimiser: torch.optim.Optimizer,
    memory: Memory,
    source_tokenizer: Tokenizer | None = None,
) -> None:
    """Save a model together with the state of its training, whole or not at all."""

    def also(new: Path) -> None:
        write_tensors(moments(model, optimiser), new / MOMENTS)
        (new / MEMORY).write_text(json.dumps(asdict(memory)) + "\n", "utf-8")

    save(folder, model, replace(card, step=memory.step), tokenizer, source_tokenizer=source_tokenizer, also=also)


def was_kept(folder: Path) -> bool:
    """Is there a state to go on from, were it only the one before?"""
    return folder.exists() or folder.with_name(folder.name + ".old").exists()


def go_on(folder: Path, model: nn.Module, optimiser: RowAdamW) -> Memory:
    """Put model and optimiser back to where they were; a fresh memory where nothing was saved yet."""
    if not was_kept(folder):
        return Memory()
    whole = find_whole(folder)
    try:
        memory = Memory(**json.loads((whole / MEMORY).read_text("utf-8")))
        found = load_file(whole / MOMENTS)
    except (OSError, ValueError, TypeError) as problem:
        raise CheckpointError(f"{whole}: holds no state of a training to go on from: {problem}") from None
    size = sum(parameter.numel() for parameter in model.parameters())
    put(read_tensors(whole / "model.safetensors", about=size), model, whole)
    put_moments(model, optimiser, found)
    return memory

"""The head swap, said aloud: which tensors were kept, which are fresh, which were dropped."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from headstart.checkpoint import Saved
from headstart.errors import CheckpointError


@dataclass(frozen=True)
class Ledger:
    """The transfer ledger: for each fate, names of tensors with their number of parameters."""

    source: str
    kept: dict[str, int]
    fresh: dict[str, int]
    dropped: dict[str, int]

    def sentence(self) -> str:
        if not self.kept:
            return f"From scratch: {_sum(self.fresh)} fresh."
        if not self.fresh:
            return f"From {self.source}: {_sum(self.kept)} kept, none fresh."
        dropped = f", {_sum(self.dropped)} dropped ({_parts(self.dropped)})" if self.dropped else ""
        return f"From {self.source}: {_sum(self.kept)} kept, {_sum(self.fresh)} fresh ({_parts(self.fresh)}){dropped}."

    def to_json(self) -> dict[str, Any]:
        return {"source": self.source, "kept": self.kept, "fresh": self.fresh, "dropped": self.dropped}


def carry_body(saved: Saved, model: nn.Module) -> Ledger:
    """Copy the body of a saved model into another, strictly; all that is no body stays as it is."""
    theirs, ours = dict(saved.model.named_parameters()), dict(model.named_parameters())
    kept = {name for name in theirs if name.startswith("body.")}
    if not kept:
        raise CheckpointError(
            f"{saved.folder}: a translator has no body to carry; start from a run of headstart pretrain"
        )
    for name in sorted(kept):
        if name not in ours or ours[name].shape != theirs[name].shape:
            raise CheckpointError(
                f"{saved.folder}: its '{name}' does not fit this model; start from the run's own shape"
            )
    missing = sorted(n for n in ours if n.startswith("body.") and n not in kept)
    if missing:
        raise CheckpointError(f"{saved.folder}: '{missing[0]}' of this body is not in it")
    with torch.no_grad():
        for name in kept:
            ours[name].copy_(theirs[name])
    return Ledger(
        str(saved.folder),
        kept={name: ours[name].numel() for name in ours if name in kept},
        fresh={name: value.numel() for name, value in ours.items() if name not in kept},
        dropped={name: value.numel() for name, value in theirs.items() if name not in kept},
    )


def carry_all(saved: Saved) -> Ledger:
    """A run that goes on with the same task keeps every tensor, its head too."""
    return Ledger(str(saved.folder), {name: value.numel() for name, value in saved.model.named_parameters()}, {}, {})


def all_fresh(model: nn.Module) -> Ledger:
    return Ledger("scratch", {}, {name: value.numel() for name, value in model.named_parameters()}, {})


def _sum(part: dict[str, int]) -> str:
    return f"{len(part)} tensors ({sum(part.values()):,} parameters)"


def _parts(part: dict[str, int]) -> str:
    return ", ".join(sorted({name.split(".")[0] for name in part}))

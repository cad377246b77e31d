"""A pretrained run that goes on with other text: what it hands on, and what has to fit."""

from pathlib import Path

from headstart.checkpoint import Saved, find, load
from headstart.errors import CheckpointError, RunError
from headstart.recipes.pretraining.objectives import OBJECTIVES, Name, Objective
from headstart.text.tokenizer import Tokenizer


def read_parent(start: Path, asked: Name | None, tokenizer: Path | None) -> Saved:
    """The model to go on with; an objective or a tokenizer, where one is named, must be its own."""
    parent = load(start)
    own = objective_of(parent)
    if asked not in (None, own.name):
        raise CheckpointError(
            f"{start}: was pretrained as {own.name} and cannot go on as {asked}: its weights know nothing of that "
            f"task. Leave --objective {asked} out to go on as {own.name}, or --from to pretrain afresh"
        )
    if tokenizer is not None:
        named = Tokenizer.load(tokenizer)
        if (named if own.causal else named.with_bidirectional()).hash != parent.card.tokenizer:
            raise CheckpointError(
                f"{start}: was trained with another tokenizer than {tokenizer}, so its ids mean other pieces. "
                "Leave --tokenizer out: the run brings its own"
            )
    return parent


def objective_of(saved: Saved) -> Objective:
    """How a saved model was pretrained; one that has learnt a later task cannot go back."""
    for objective in OBJECTIVES.values():
        if objective.task == saved.card.task:
            return objective
    raise CheckpointError(
        f"{saved.folder}: a {saved.card.task} model cannot go on pretraining, its head is for another task. "
        "Start --from the run that it was made of"
    )


def refuse_own_child(out: Path, start: Path) -> None:
    """A run must not be written over while it is read."""
    if find(start).resolve().is_relative_to(out.resolve()):
        raise RunError(f"{out}: is the run to start from; give the new one another --out")

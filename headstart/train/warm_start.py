"""A pretrained body becomes the reader of a translator, its writer, or both."""

from collections.abc import Sequence

import torch

from headstart.checkpoint import Saved
from headstart.errors import CheckpointError
from headstart.model.models import Translator
from headstart.train.transfer import Ledger


def carry_into_translator(saved: Saved, model: Translator, places: Sequence[str]) -> Ledger:
    """Copy the body of a saved model to each of `places`, "reader" or "writer", tensor by tensor.

    What a writer has and a body lacks, its reading of the memory, stays fresh.
    """
    body = {n.removeprefix("body."): p for n, p in saved.model.named_parameters() if n.startswith("body.")}
    if not body:
        raise CheckpointError(f"{saved.folder}: no body to become a reader; give a run of headstart pretrain")
    every = dict(model.named_parameters(remove_duplicate=False))  # a shared table stands in both halves
    kept = {f"{place}.{name}" for place in places for name in body}
    with torch.no_grad():
        for place in places:
            for name, value in body.items():
                target = every.get(f"{place}.{name}")
                if target is None or target.shape != value.shape:
                    raise CheckpointError(
                        f"{saved.folder}: its 'body.{name}' does not fit the {place} of this translator"
                    )
                target.copy_(value)
    if model.writer.embedding is model.reader.embedding and f"{places[0]}.embedding.weight" in kept:
        kept.add("reader.embedding.weight")
    ours, theirs = dict(model.named_parameters()), dict(saved.model.named_parameters())
    return Ledger(
        str(saved.folder),
        kept={name: value.numel() for name, value in ours.items() if name in kept},
        fresh={name: value.numel() for name, value in ours.items() if name not in kept},
        dropped={name: value.numel() for name, value in theirs.items() if not name.startswith("body.")},
    )

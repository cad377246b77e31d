"""Which tables are so large that only the rows a step reads should pay for it."""

from typing import Any

import torch.distributed as dist
from torch import nn

from headstart.model.heads import VocabularyHead
from headstart.train.rows import wake

MANY_ROWS = 2_000  # a smaller table is updated whole in no time


def lazy_tables(model: nn.Module, *, sampled: bool) -> list[nn.Parameter]:
    """The embeddings, and with a `sampled` loss the output matrix and its bias; embeddings are told so.

    An exact vocabulary loss gives every row a gradient, also where the output is tied to the embedding. Several
    workers add up dense gradients only.
    """
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        return []
    heads = [part for part in model.modules() if isinstance(part, VocabularyHead)]
    outputs = [p for head in heads for p in (head.weight, head.bias) if p is not None]
    embeddings = [part for part in model.modules() if isinstance(part, nn.Embedding)]
    read_whole = set() if sampled else {id(p) for p in outputs}
    inputs = [e.weight for e in embeddings if id(e.weight) not in read_whole]
    chosen = dict.fromkeys(inputs + (outputs if sampled else []))
    found = [p for p in chosen if isinstance(p, nn.Parameter) and len(p) >= MANY_ROWS and p.requires_grad]
    for embedding in embeddings:
        _tell(embedding, lazy=any(embedding.weight is p for p in found))
    return found


def _tell(embedding: nn.Embedding, *, lazy: bool) -> None:
    """A lazy embedding gives row-sparse gradients, and wakes the rows that it is about to read."""
    if lazy and not embedding.sparse:
        embedding.register_forward_pre_hook(_wake_rows)
    embedding.sparse = lazy


def _wake_rows(embedding: nn.Module, read: tuple[Any, ...]) -> None:
    if embedding.training and isinstance(embedding, nn.Embedding):
        wake(embedding.weight, read[0])

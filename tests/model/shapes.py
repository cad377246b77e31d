"""Small shapes for tests of the model."""

from typing import Any

import torch
from hypothesis import strategies as st
from torch import nn

from headstart.checkpoint import build
from headstart.model.init import initialise
from headstart.model.models import Task
from headstart.model.shape import Shape


def small(**changes: Any) -> Shape:
    standard: dict[str, Any] = {
        "vocabulary": 50, "width": 12, "depth": 2, "heads": 3, "hidden": 20, "context": 16,
        "dropout": 0.0, "embedding_dropout": 0.0,
    }  # fmt: skip
    return Shape(**{**standard, **changes})


def model_of(task: Task, seed: int = 0, **changes: Any) -> nn.Module:
    torch.manual_seed(seed)
    model = build(task, small(**changes), causal=True)
    initialise(model)
    return model.eval()


def shapes(**fixed: Any) -> st.SearchStrategy[Shape]:
    """Random small shapes; rotary positions need heads of even width."""

    def make(heads: int, half: int, **rest: Any) -> Shape:
        return small(**{"heads": heads, "width": 2 * heads * half, **rest, **fixed})

    return st.builds(
        make,
        heads=st.integers(1, 4),
        half=st.integers(1, 4),
        depth=st.integers(1, 3),
        hidden=st.integers(1, 24),
        positions=st.sampled_from(["sinusoidal", "learned", "rotary"]),
        norm=st.sampled_from(["post", "pre"]),
        activation=st.sampled_from(["relu", "gelu"]),
        tied=st.booleans(),
        output_bias=st.booleans(),
    )

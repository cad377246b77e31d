"""The bill: DESIGN's numbers to the unit, and every figure against something that was not derived by us."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import shapes, small
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from headstart.checkpoint import build
from headstart.config import build as build_settings
from headstart.config import read_preset
from headstart.model.bill import advice, bill, memory, total, work
from headstart.model.models import Task
from headstart.model.shape import Shape
from headstart.recipes.bill import built_parameters

tasks = st.sampled_from(["lm", "classify", "masked", "bert", "translate"])


def preset(name: str) -> Shape:
    return build_settings(Shape, read_preset(name)["model"], name)


@pytest.mark.parametrize(
    ("name", "task", "parameters"),
    [
        ("lab", "lm", 21_018_401),
        ("lab", "classify", 10_968_602),
        ("base", "translate", 63_082_496),
        ("bert-base", "masked", 109_514_298),
        ("bert-base", "bert", 110_106_428),
    ],
)
def test_the_known_models(name: str, task: Task, parameters: int) -> None:
    assert total(bill(preset(name), task)) == built_parameters(preset(name), task) == parameters


def test_every_line_of_the_lab() -> None:
    lines = {line.part: line.parameters for line in bill(preset("lab"), "lm")}
    assert lines == {
        "embedding": 10_000_200,
        "positions": 0,
        "attention, one layer": 160_800,
        "two layer norms, one layer": 800,
        "feed-forward, one layer": 80_400,
        "one layer": 242_000,
        "4 layers": 968_000,
        "body": 10_968_200,
        "vocabulary head": 10_050_201,
    }
    assert bill(preset("lab"), "classify")[-1].parameters == 402


@settings(max_examples=80, deadline=None)
@given(
    shape=shapes(),
    task=tasks,
    segments=st.sampled_from([0, 2, 3]),
    embedding_norm=st.booleans(),
    classes=st.integers(1, 5),
)
def test_the_bill_equals_the_built_model(
    shape: Shape, task: Task, segments: int, embedding_norm: bool, classes: int
) -> None:
    shape = Shape(**{**vars(shape), "segments": segments, "embedding_norm": embedding_norm})
    assert total(bill(shape, task, classes=classes)) == built_parameters(shape, task, classes=classes)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("task", ["lm", "masked", "translate", "classify"])
def test_the_work_equals_torchs_own_count(task: Task, heads: int) -> None:
    shape = small(vocabulary=64, width=16, heads=heads)
    model, ids = build(task, shape).eval(), torch.randint(64, (1, 16))
    inputs = {"translate": (ids, ids), "classify": (ids, torch.tensor([16]))}.get(task, (ids,))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(*inputs)
    assert work(shape, task, length=16).forward * 16 == counter.get_total_flops()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre"},
        {"activation": "gelu"},
        {"positions": "rotary", "norm": "pre", "activation": "gelu"},
        {"dropout": 0.1},
        {"attention_dropout": 0.1},
    ],
    ids=str,
)
def test_the_activations_are_those_that_autograd_keeps(changes: dict[str, Any]) -> None:
    shape = small(vocabulary=500, width=64, hidden=256, heads=4, depth=6, context=128, **changes)
    model = build("lm", shape)
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model.get_submodule("body")(torch.randint(500, (8, 128)))
    seen = sum(storage.nbytes() for storage in kept.values())
    assert memory(shape, "lm", rows=8, length=128).activations == pytest.approx(seen, rel=0.05)


def test_the_lab_is_advised_to_tie() -> None:
    said = " ".join(advice(preset("lab"), "lm", length=128))
    assert "95 % of the parameters are embedding and output" in said
    assert "saves 10.0 M" in said

"""Rates, groups and the optimiser's memory."""

import pytest
import torch
from model.shapes import model_of

from headstart.train.optimiser import adamw, layer_scales, moments, put_moments, rate_schedule, set_rate


def test_the_rate_rises_straight_and_falls_to_the_floor() -> None:
    rate = rate_schedule(1.0, 100, warmup=0.1, decay="cosine", floor=0.2)
    assert [rate(0), rate(4), rate(9)] == pytest.approx([0.1, 0.5, 1.0])
    assert rate(55) == pytest.approx(0.6)
    assert rate(100) == pytest.approx(0.2)
    assert all(rate(i) > rate(i + 1) for i in range(10, 99))
    assert rate_schedule(1.0, 100, warmup=0.0, decay="linear", floor=0.0)(50) == pytest.approx(0.5, abs=0.02)
    assert rate_schedule(1.0, 100, warmup=0.0, decay="constant", floor=0.0)(99) == 1.0


def test_biases_and_norms_do_not_decay() -> None:
    optimiser = adamw(model_of("lm"), weight_decay=0.5, betas=(0.9, 0.99))
    for group in optimiser.param_groups:
        assert all((p.dim() > 1) == (group["weight_decay"] > 0) for p in group["params"])


def test_lower_layers_learn_more_slowly_and_late_ones_wait() -> None:
    model = model_of("classify")
    optimiser = adamw(
        model, weight_decay=0.0, betas=(0.9, 0.99), scales=layer_scales(2, 0.5), starts={"body.blocks.1.": 3}
    )
    names = {id(parameter): name for name, parameter in model.named_parameters()}

    def rates(step: int) -> dict[str, float]:
        set_rate(optimiser, 1.0, step)
        return {names[id(p)]: group["lr"] for group in optimiser.param_groups for p in group["params"]}

    first, later = rates(0), rates(3)
    assert later["head.scores.weight"] == 1.0
    assert later["body.blocks.1.attention.output.weight"] == 0.5
    assert later["body.blocks.0.attention.output.weight"] == 0.25
    assert later["body.embedding.weight"] == 0.125
    assert first["body.blocks.1.attention.output.weight"] == 0.0


def test_a_frozen_body_does_not_move() -> None:
    model = model_of("classify")
    optimiser = adamw(model, weight_decay=0.1, betas=(0.9, 0.99), scales={"body.": 0.0})
    before = {name: value.clone() for name, value in model.named_parameters()}
    model(torch.randint(50, (4, 6)), torch.full((4,), 6)).sum().backward()
    set_rate(optimiser, 0.1, 0)
    optimiser.step()
    moved = {name.split(".")[0] for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    assert moved == {"head"}


def test_the_memory_survives_being_written() -> None:
    def take_step(model: torch.nn.Module, optimiser: torch.optim.Optimizer, seed: int) -> None:
        ids = torch.randint(50, (4, 6), generator=torch.Generator().manual_seed(seed))
        model(ids).square().mean().backward()
        set_rate(optimiser, 0.01, 0)
        optimiser.step()
        optimiser.zero_grad()

    one, other = model_of("lm"), model_of("lm")
    first = adamw(one, weight_decay=0.1, betas=(0.9, 0.99))
    take_step(one, first, 1)
    other.load_state_dict(one.state_dict())
    second = adamw(other, weight_decay=0.1, betas=(0.9, 0.99))
    put_moments(other, second, {name: value.clone() for name, value in moments(one, first).items()})
    take_step(one, first, 2)
    take_step(other, second, 2)
    for a, b in zip(one.parameters(), other.parameters()):
        assert torch.equal(a, b)

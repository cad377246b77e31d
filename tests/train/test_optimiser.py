"""Rates, groups and the optimiser's memory."""

import pytest
import torch
from model.shapes import model_of
from torch import nn

from headstart.train.optimiser import adamw, layer_scales, moments, put_moments, rate_schedule, set_rate
from headstart.train.tables import lazy_tables


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


@pytest.fixture
def large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headstart.train.tables.MANY_ROWS", 20)


def names_of(model: nn.Module, tables: list[nn.Parameter]) -> set[str]:
    return {name for name, parameter in model.named_parameters() if any(parameter is table for table in tables)}


@pytest.mark.usefixtures("large_tables")
def test_only_tables_of_which_few_rows_are_read_are_lazy() -> None:
    lm, tied, classifier = model_of("lm"), model_of("lm", tied=True), model_of("classify")
    assert names_of(lm, lazy_tables(lm, sampled=False)) == {"body.embedding.weight"}
    assert names_of(lm, lazy_tables(lm, sampled=True)) == {"body.embedding.weight", "head.weight", "head.bias"}
    assert names_of(tied, lazy_tables(tied, sampled=False)) == set()
    assert names_of(tied, lazy_tables(tied, sampled=True)) == {"body.embedding.weight", "head.bias"}
    assert names_of(classifier, lazy_tables(classifier, sampled=False)) == {"body.embedding.weight"}
    adamw(classifier, weight_decay=0.0, betas=(0.9, 0.99), scales={"body.": 0.0})
    assert not classifier.get_submodule("body.embedding").sparse


@pytest.mark.usefixtures("large_tables")
@pytest.mark.parametrize("betas", [(0.9, 0.99), (0.9, 0.999)])
def test_a_classifier_learns_as_with_a_dense_optimiser(betas: tuple[float, float]) -> None:
    """Its embedding's rows sleep while no batch reads them; whoever reads them sees no difference."""
    lazy, dense = model_of("classify").train(), model_of("classify").train()
    dense.load_state_dict(lazy.state_dict())
    ours = adamw(lazy, weight_decay=0.1, betas=betas)
    theirs = torch.optim.AdamW(
        [
            {"params": [p for p in dense.parameters() if (p.dim() > 1) == decays], "weight_decay": 0.1 * decays}
            for decays in (True, False)
        ],
        betas=betas,
    )
    draw = torch.Generator().manual_seed(0)
    for step in range(30):
        ids, labels = torch.randint(50, (2, 4), generator=draw), torch.randint(2, (2,), generator=draw)
        losses = [nn.functional.cross_entropy(model(ids, torch.full((2,), 4)), labels) for model in (lazy, dense)]
        assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-3, abs=1e-4)
        for loss, optimiser in zip(losses, (ours, theirs)):
            for group in optimiser.param_groups:
                group["lr"] = 1e-3 * (1 + step % 3)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
    assert lazy.get_submodule("body.embedding").sparse
    ours.wake_all()
    tables = [model.get_parameter("body.embedding.weight") for model in (lazy, dense)]
    torch.testing.assert_close(*tables, rtol=1e-3, atol=1e-4)

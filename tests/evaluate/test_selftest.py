"""The self-tests hold for good models of every kind, and catch each broken one."""

from typing import Any

import pytest
import torch
from model.shapes import model_of
from torch import Tensor

from headstart.evaluate.selftest import check_model
from headstart.generate.past import GrowingPast
from headstart.model.attention import Sight
from headstart.model.body import Body
from headstart.model.masks import causal_mask
from headstart.model.models import Classifier, Task


def failed(model: torch.nn.Module) -> set[str]:
    return {check.name for check in check_model(model) if check.passed is False}


@pytest.mark.parametrize("task", ["lm", "classify", "masked", "bert", "translate"])
@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "positions": "rotary", "heads": 2}, {"positions": "learned"}])
def test_good_models_pass(task: Task, changes: dict[str, Any]) -> None:
    assert failed(model_of(task, **changes)) == set()


def test_what_does_not_apply_to_a_bidirectional_body_is_said() -> None:
    answers = {check.name: check.passed for check in check_model(model_of("masked"))}
    assert answers["no future leak"] is None
    assert answers["cached = uncached"] is None
    for name in ("sees both sides", "padding changes nothing", "batch 1 = batch N", "a fully masked row is finite"):
        assert answers[name] is True


@pytest.mark.parametrize("task", ["lm", "classify", "masked", "bert", "translate"])
@pytest.mark.parametrize("context", [1, 2, 3, 11])
def test_few_learned_positions_are_checked_as_far_as_they_go(task: Task, context: int) -> None:
    checks = check_model(model_of(task, positions="learned", context=context))
    assert not [check for check in checks if check.passed is False]
    applying = {check.name for check in checks if check.passed}
    assert {"a fully masked row is finite", "batch 1 = batch N", "sees itself and what came before"} <= applying
    if context > 1:
        assert {"padding changes nothing"} <= applying
        assert "no future leak" in applying or task in ("masked", "bert")


@pytest.mark.parametrize("context", [2, 16])
def test_a_body_that_should_look_both_ways_and_does_not_is_caught(context: int) -> None:
    model = model_of("masked", positions="learned", context=context)
    body = model.get_submodule("body")
    body.__class__ = LooksBack
    assert failed(model) == {"sees both sides"}


class NoMask(Body):
    def sight(self, *rest: Any) -> Sight:
        return Sight()


class LooksBack(Body):
    def sight(self, *rest: Any) -> Sight:
        return Sight(square=True)


class MaskedDiagonal(Body):
    def sight(self, ids: Tensor, start: int, *rest: Any) -> Sight:
        return Sight(causal_mask(ids.size(1), start + ids.size(1)).roll(1, dims=0).tril(-1))


@pytest.mark.parametrize(
    ("broken", "caught"),
    [(NoMask, "no future leak"), (MaskedDiagonal, "sees itself and what came before")],
)
def test_a_broken_mask_is_caught(broken: type[Body], caught: str) -> None:
    model = model_of("lm")
    model.get_submodule("body").__class__ = broken
    assert caught in failed(model)


def test_reading_padding_as_the_last_token_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("classify")
    monkeypatch.setattr(Classifier, "pool", lambda self, ids, lengths, segments=None: self.body(ids)[:, -1])
    assert {"padding changes nothing", "batch 1 = batch N"} <= failed(model)


def test_padding_seen_by_a_bidirectional_body_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("masked")
    forward = Body.forward
    monkeypatch.setattr(Body, "forward", lambda self, ids, real=None, **rest: forward(self, ids, **rest))
    assert {"padding changes nothing", "batch 1 = batch N"} <= failed(model)


def test_a_cache_that_forgets_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("lm")
    monkeypatch.setattr(GrowingPast, "extend", lambda self, k, v: (k, v))
    assert "cached = uncached" in failed(model)


def test_numbers_that_are_not_finite_are_caught() -> None:
    model = model_of("lm")
    model.get_parameter("body.blocks.0.attention.output.bias").data[0] = float("nan")
    assert "a fully masked row is finite" in failed(model)


def test_the_model_is_left_as_it_was() -> None:
    model = model_of("lm").train()
    check_model(model)
    assert model.training

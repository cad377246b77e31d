"""A dead run is named with its cause; a living one is left alone."""

import math
from pathlib import Path

import pytest
import torch
from train.small_corpus import small_corpus, small_settings

from headstart.errors import DeadRunError
from headstart.model.attention import Sight
from headstart.model.body import Body
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.stopping import StopRule
from headstart.train.dead import Watch, constant_warning, unigram_entropy, unknown_warning


def watch(warm: int = 10) -> Watch:
    return Watch(uniform=math.log(1_000), unigram=5.0, warm=warm)


def test_a_loss_that_stays_at_ln_v_is_named() -> None:
    seen = watch()
    for step in range(10):
        seen.see(step, math.log(1_000), 1.0)
    with pytest.raises(DeadRunError, match="blind guess"):
        seen.see(10, math.log(1_000), 1.0)


def test_numbers_that_overflow_are_named() -> None:
    for loss, norm in ((math.nan, 1.0), (math.inf, 1.0), (3.0, math.nan), (3.0, math.inf)):
        with pytest.raises(DeadRunError, match="overflowed"):
            watch().see(1, loss, norm)


def test_a_gradient_that_overflows_in_float16_is_no_death() -> None:
    """The scaler skips the step and halves its scale, which it doubles every 2,000 steps."""
    scaled = Watch(uniform=math.log(1_000), unigram=5.0, warm=10, scaled=True)
    scaled.see(1, 3.0, math.inf)
    with pytest.raises(DeadRunError, match="overflowed"):
        scaled.see(2, math.nan, 1.0)


def test_a_run_that_learns_is_left_alone() -> None:
    seen = watch()
    for step in range(200):
        seen.see(step, 6.9 - 0.02 * step, 1.0)
    assert seen.judge(200, 3.0) == ""
    assert "counting words" in seen.judge(200, 5.0)


def test_small_warnings() -> None:
    assert unigram_entropy([5, 5, 0]) == pytest.approx(math.log(2))
    assert "unknown to this tokenizer" in unknown_warning(20, 100)
    assert unknown_warning(1, 100) == ""
    assert "same label" in constant_warning([1] * 20, 2)
    assert constant_warning([0, 1] * 10, 2) == ""


def test_softmax_before_the_loss_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headstart.train import objectives

    def broken(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, targets: torch.Tensor) -> torch.Tensor:
        shares = torch.nn.functional.linear(x, weight, bias).softmax(-1)
        return torch.nn.functional.cross_entropy(shares, targets, ignore_index=-100, reduction="sum")

    monkeypatch.setattr(objectives, "vocabulary_loss", broken)
    with pytest.raises(DeadRunError, match="blind guess"):
        pretrain([small_corpus(tmp_path)], tmp_path / "run", settings=small_settings(), stop=StopRule(steps=120))


def test_a_rate_far_too_high_is_caught(tmp_path: Path) -> None:
    settings = small_settings("train.rate=1e6", "train.clip=0.0")
    with pytest.raises(DeadRunError, match="rate"):
        pretrain([small_corpus(tmp_path)], tmp_path / "run", settings=settings, stop=StopRule(steps=150))


def test_a_dropped_mask_is_caught_by_the_self_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeing the future, a model learns too well for any loss to look suspicious; `check model` sees it."""
    from headstart.recipes.check_model import check_run

    pretrain([small_corpus(tmp_path)], tmp_path / "run", settings=small_settings(), stop=StopRule(steps=5))
    monkeypatch.setattr(Body, "sight", lambda self, *rest: Sight())
    assert any(check.passed is False and check.name == "no future leak" for check in check_run(tmp_path / "run"))

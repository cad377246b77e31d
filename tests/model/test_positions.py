"""Positions: the paper's formula, any width, any length, or a refusal that says why."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from model.shapes import model_of, small

from headstart.model.positions import angles, sinusoids, turned


@given(position=st.integers(0, 5_000), width=st.integers(1, 33), column=st.integers(0, 32))
def test_sinusoids_follow_the_papers_formula(position: int, width: int, column: int) -> None:
    column %= width
    angle = position / 10_000 ** (2 * (column // 2) / width)
    wanted = math.cos(angle) if column % 2 else math.sin(angle)
    assert sinusoids(torch.tensor([position]), width)[0, column].item() == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_a_text_may_be_longer_than_the_context(positions: str) -> None:
    model = model_of("lm", positions=positions, heads=2)
    ids = torch.randint(50, (1, 40))
    torch.testing.assert_close(model(ids)[:, :16], model(ids[:, :16]))


def test_learned_positions_end_with_a_reason() -> None:
    with pytest.raises(ValueError, match="only 16 positions were learnt"):
        model_of("lm", positions="learned")(torch.zeros(1, 17, dtype=torch.long))


def test_rotary_needs_an_even_head() -> None:
    with pytest.raises(ValueError, match="a head is 3 wide"):
        small(positions="rotary", width=9, heads=3)


def test_rotary_scores_depend_on_the_distance_only() -> None:
    q, k = torch.randn(2, 1, 1, 1, 8)

    def score(i: int, j: int) -> float:
        far = angles(torch.tensor([[i], [j]]).float(), 8)  # (2, 1, 4)
        return (turned(q, far[0]) * turned(k, far[1])).sum().item()

    assert score(7, 3) == pytest.approx(score(104, 100), abs=1e-4)
    assert score(7, 3) != pytest.approx(score(7, 4), abs=1e-4)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_order_matters(positions: str) -> None:
    model = model_of("lm", positions=positions, heads=2)
    one, other = model(torch.tensor([[5, 6, 7]])), model(torch.tensor([[6, 5, 7]]))
    assert not torch.allclose(one[:, -1], other[:, -1], atol=1e-4)

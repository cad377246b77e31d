"""The next token is chosen as the definitions say, written out here in numpy."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from headstart.generate.choose import Candidates, Chain, Sampling, draw, greedy, keep_best, keep_nucleus, temper

LUCK = 20_000  # equally spaced numbers in [0, 1): each token is met in proportion, without chance


def numpy_probabilities(scores: np.ndarray, sampling: Sampling, forbidden: list[int]) -> np.ndarray:
    """Temperature, then top-k, then top-p over one row, each by sorting everything."""
    scores = scores.astype(np.float64) / sampling.temperature
    scores[forbidden] = -np.inf
    if sampling.top_k:
        scores[np.argsort(-scores, kind="stable")[sampling.top_k :]] = -np.inf
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    above = 0.0
    for place in np.argsort(-chances, kind="stable"):
        mass, kept = chances[place], above < sampling.top_p
        chances[place] = mass if kept else 0.0
        above += mass
    return chances / chances.sum()


def proportions(scores: Tensor, sampling: Sampling, forbidden: list[int]) -> np.ndarray:
    luck = (torch.arange(LUCK) + 0.5) / LUCK
    ids = sampling.chooser(forbidden)(scores.expand(LUCK, -1).clone(), luck)
    return np.bincount(ids.numpy(), minlength=scores.numel()) / LUCK


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.3, 0.8, 1.0, 2.5]),
    st.sampled_from([0, 2, 5, 100]),
    st.sampled_from([0.05, 0.5, 0.95, 1.0]),
)
def test_proportions_are_those_of_the_definition(seed: int, temperature: float, top_k: int, top_p: float) -> None:
    scores = 2 * torch.randn(13, generator=torch.Generator().manual_seed(seed))
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    wanted = numpy_probabilities(scores.numpy(), sampling, [0, 3])
    found = proportions(scores, sampling, [0, 3])
    assert found == pytest.approx(wanted, abs=2 / LUCK)
    assert set(found.nonzero()[0]) <= set(wanted.nonzero()[0])


@pytest.mark.parametrize("spread", [0.01, 1.0, 4.0])
@pytest.mark.parametrize("mass", [0.1, 0.9, 0.999])
def test_a_nucleus_in_a_large_vocabulary_is_found_without_sorting_all_of_it(spread: float, mass: float) -> None:
    scores = spread * torch.randn(3, 5_000, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    kept = keep_nucleus(Candidates(scores, torch.arange(5_000).expand(3, -1)), mass)
    for row in range(3):
        sampling = Sampling(temperature=1, top_k=0, top_p=mass)
        wanted = numpy_probabilities(scores[row].numpy(), sampling, []).nonzero()[0]
        assert kept.ids[row][kept.scores[row].isfinite()].tolist() == wanted.tolist()


def test_specials_are_never_chosen_however_high_they_score() -> None:
    scores = torch.zeros(1, 9)
    scores[0, :7] = 100.0
    for sampling in (Sampling(), Sampling(temperature=0), Sampling(top_k=0, top_p=1.0, temperature=5.0)):
        for luck in (0.0, 0.5, 1 - 2**-24):
            chosen = sampling.chooser([0, 1, 3, 4, 5, 6])(scores.clone(), torch.tensor([luck]))
            assert chosen.item() in {2, 7, 8}


def test_the_greatest_luck_meets_the_last_token_that_can_be_met() -> None:
    scores = torch.tensor([[0.0, 1.0, -torch.inf, 0.5, -torch.inf]])
    everything = Candidates(scores, torch.arange(5)[None])
    assert draw(everything, torch.tensor([1 - 2**-24])).tolist() == [3]
    assert draw(everything._replace(scores=scores.flip(1)), torch.tensor([0.0])).tolist() == [1]


def test_a_row_is_chosen_alone() -> None:
    scores, luck = torch.randn(7, 400, generator=torch.Generator().manual_seed(2)), torch.linspace(0, 0.99, 7)
    for sampling in (Sampling(), Sampling(top_k=0), Sampling(top_k=0, top_p=1.0), Sampling(temperature=0)):
        together = sampling.chooser()(scores.clone(), luck)
        alone = [sampling.chooser()(scores[i : i + 1].clone(), luck[i : i + 1]) for i in range(7)]
        assert together.tolist() == torch.cat(alone).tolist()


def test_parts_are_put_together_by_hand_too() -> None:
    chooser = Chain([2], [partial(temper, temperature=0.5), partial(keep_best, count=2)], greedy)
    assert chooser(torch.tensor([[1.0, 3.0, 9.0, 4.0]]), torch.zeros(1)).tolist() == [3]


def test_almost_no_temperature_is_greedy_and_finite() -> None:
    scores = torch.randn(4, 50, generator=torch.Generator().manual_seed(3))
    for temperature in (0.0, 1e-320, 1e-6, 1e-4):
        chosen = Sampling(temperature=temperature).chooser()(scores.clone(), torch.full((4,), 0.9))
        assert chosen.tolist() == scores.argmax(1).tolist()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"temperature": -1.0}, "--temperature -1.0: give 0"),
        ({"temperature": float("nan")}, "--temperature nan"),
        ({"temperature": float("inf")}, "--temperature inf"),
        ({"top_k": -1}, "--top-k -1: give 1 or more"),
        ({"top_p": 0.0}, "--top-p 0.0: give a share"),
        ({"top_p": 1.1}, "--top-p 1.1"),
        ({"top_p": float("nan")}, "--top-p nan"),
    ],
)
def test_values_without_a_meaning_are_refused(changes: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sampling(**changes)  # type: ignore[arg-type]

"""The head start in labels and in time, and honesty where the curve ends."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from headstart.evaluate.worth import LabelsWorth, labels_worth, levelled, time_saved, typical, worth_sentence

TEXTS = 4000


def curve(accuracies: dict[int, float]) -> dict[int, np.ndarray]:
    """The same texts are easy for everybody, so that only the numbers of labels differ."""
    return {n: (np.arange(TEXTS) < TEXTS * share)[None] for n, share in accuracies.items()}


def test_the_labels_are_read_off_scratchs_curve_over_the_logarithm() -> None:
    scratch, pretrained = curve({100: 0.5, 400: 0.6, 1600: 0.8}), curve({100: 0.55, 400: 0.7, 1600: 0.85})
    few, some, many = labels_worth(scratch, pretrained)
    assert few.needed == pytest.approx(200, rel=1e-3)
    assert some.needed == pytest.approx(800, rel=1e-3)
    assert math.isinf(many.needed)
    assert some.low <= some.needed <= some.high


def test_the_sentence_names_the_labels_and_where_the_curve_ends() -> None:
    scratch, pretrained = curve({100: 0.5, 400: 0.6, 1600: 0.8}), curve({100: 0.7, 400: 0.81, 1600: 0.85})
    sentence = worth_sentence(labels_worth(scratch, pretrained))
    assert "worth about 700 labels: with 100" in sentence
    assert "does what scratch does with about 800" in sentence
    assert "With 400 it is better than scratch with all 1,600." in sentence


def test_out_of_range_is_said_so() -> None:
    found = labels_worth(curve({50: 0.5, 1600: 0.6}), curve({50: 0.7, 1600: 0.8}))
    assert "worth more than 1,550 labels" in worth_sentence(found)


def test_no_worth_is_said_so() -> None:
    found = labels_worth(curve({50: 0.6, 400: 0.7}), curve({50: 0.55, 400: 0.65}))
    assert found[0].needed == 0
    assert worth_sentence(found).startswith("Pretraining is worth no labels here: with 400")


def test_a_curve_that_does_not_rise_says_nothing() -> None:
    found = labels_worth(curve({50: 0.6, 400: 0.55}), curve({50: 0.5, 400: 0.52}))
    assert worth_sentence(found).startswith("What pretraining is worth in labels cannot be said")


def test_doubt_is_said_so() -> None:
    random = np.random.default_rng(0)
    scratch = {n: random.random((2, 200)) < share for n, share in ((50, 0.6), (800, 0.75))}
    pretrained = {n: random.random((2, 200)) < share for n, share in ((50, 0.63), (800, 0.74))}
    found = labels_worth(scratch, pretrained)
    assert not found[0].sure
    one = LabelsWorth(50, 0.63, 80.0, 0.0, 300.0, least=50, most=800)
    assert "fewer than 50 to 300, so it may be worth nothing" in worth_sentence([one])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_dents_are_levelled_as_scikit_learn_does(values: list[float]) -> None:
    expected = IsotonicRegression().fit_transform(range(len(values)), values)
    assert levelled(np.array(values)) == pytest.approx(expected)


def test_the_time_until_scratchs_best_is_reached() -> None:
    scratch = {0: [(10, 0.5), (20, 0.7), (30, 0.6)], 1: [(10, 0.5), (20, 0.5), (30, 0.9)]}
    pretrained = {0: [(11, 0.6), (22, 0.8)], 1: [(11, 0.6), (22, 0.8)]}
    first, second = time_saved(scratch, pretrained)
    assert (first.scratch_epoch, first.scratch_seconds) == (2, 20)
    assert (first.pretrained_epoch, first.pretrained_seconds) == (2, 22)
    assert second.pretrained_epoch == 0
    found = typical([first, second])
    assert (found["passed"], found["seeds"], found["pretrained_seconds"]) == (1, 2, 22)

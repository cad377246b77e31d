"""Intervals that cover what they claim, and a test that agrees with McNemar's."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp
from scipy.stats import bootstrap as scipy_bootstrap

from headstart.evaluate.significance import accuracy_interval, mean_interval, paired


def answers(share: float, texts: int = 1000, seeds: int = 1, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((seeds, texts)) < share


def test_one_seed_gives_the_interval_of_scipys_bootstrap() -> None:
    right = answers(0.8)
    found = accuracy_interval(right)
    theirs = scipy_bootstrap((right[0].astype(float),), np.mean, method="percentile", random_state=0)
    assert found.value == right.mean()
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.002)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.002)


def test_the_interval_at_08_on_2000_texts_is_the_known_one() -> None:
    right = np.arange(2000) < 1600
    found = accuracy_interval(right)
    assert found.high - found.low == pytest.approx(2 * 0.0175, abs=0.001)


def test_seeds_that_differ_widen_the_interval() -> None:
    steady, shaky = (
        np.stack([answers(p, seed=i)[0] for i, p in enumerate([0.8] * 4)]),
        np.stack([answers(p, seed=i)[0] for i, p in enumerate([0.5, 0.9, 0.9, 0.9])]),
    )
    narrow, wide = accuracy_interval(steady), accuracy_interval(shaky)
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random, covered = np.random.default_rng(0), 0
    for _ in range(200):
        found = accuracy_interval(random.random((1, 300)) < 0.75, repetitions=1000)
        covered += found.low <= 0.75 <= found.high
    assert 180 <= covered <= 199


def test_one_seed_each_is_mcnemars_test() -> None:
    for seed in range(5):
        first, second = answers(0.80, 400, seed=seed), answers(0.76, 400, seed=seed + 50)
        only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
        exact = binomtest(only_first, only_first + only_second).pvalue
        assert paired(first, second).p == pytest.approx(exact, abs=0.02)


def test_pairing_sees_what_single_intervals_do_not() -> None:
    second = answers(0.8, 2000)
    first = second | (np.arange(2000) % 20 == 0)[None]
    one, other, both = accuracy_interval(first), accuracy_interval(second), paired(first, second)
    assert one.low < other.high
    assert both.difference.low > 0
    assert both.p < 0.01


def test_equal_systems_differ_by_nought() -> None:
    right = answers(0.7, seeds=3)
    found = paired(right, right)
    assert (found.difference.value, found.difference.low, found.difference.high, found.p) == (0, 0, 0, 1)
    assert not found.difference.sure


def test_chance_is_seldom_called_a_difference() -> None:
    found = [paired(answers(0.8, 500, 3, i), answers(0.8, 500, 3, i + 1000), repetitions=1000) for i in range(60)]
    assert sum(each.difference.sure for each in found) <= 6
    assert sum(each.p < 0.05 for each in found) <= 8


def test_seeds_ahead_are_counted_also_against_a_system_without_seeds() -> None:
    first = np.stack([np.arange(10) < n for n in (9, 8, 4)])
    second = np.arange(10)[None] < 6
    assert (paired(first, second).ahead, paired(first, second).seeds) == (2, 3)
    assert (paired(second, first).ahead, paired(second, first).seeds) == (1, 3)


def test_different_numbers_of_seeds_have_no_pairs_of_seeds() -> None:
    assert paired(answers(0.8, seeds=3), answers(0.7, seeds=2)).seeds == 0


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, second = answers(0.8, seeds=3), answers(0.79, seeds=3, seed=9)
    assert paired(first, second, seed=4) == paired(first, second, seed=4)
    assert paired(first, second, seed=4) != paired(first, second, seed=5)


def test_the_interval_of_a_mean_is_students() -> None:
    values = [0.71, 0.74, 0.70, 0.78]
    found, theirs = mean_interval(values), ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert mean_interval([0.7]).high == math.inf

"""The verdict on several rivals names a winner only where there is one."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from headstart.evaluate.rivals import Ranking, adjusted_p, rank
from headstart.evaluate.significance import Interval, Paired, accuracy_interval, paired
from headstart.evaluate.verdict import Standing


def right(share: float, seeds: int = 3, texts: int = 1000, seed: int = 0) -> np.ndarray:
    """(S, N): hard texts are hard for all."""
    random = np.random.default_rng(seed)
    return random.random(texts) + 0.05 * random.random((seeds, texts)) < share


def ranked(classic: float = 0.6, **shares: float) -> Ranking:
    systems = {name: right(share) for name, share in shares.items()}
    other, names = right(classic, seeds=1), list(shares)
    standings = {
        name: Standing(name, accuracy_interval(found, repetitions=500), 40.0, dict(enumerate(found.mean(1))))
        for name, found in systems.items()
    }
    gaps = {
        (one, two): paired(systems[one], systems[two], repetitions=500)
        for i, one in enumerate(names)
        for two in names[i + 1 :]
    }
    return rank(
        standings,
        gaps,
        classic=Standing("words", accuracy_interval(other, repetitions=500), 0.5, {0: float(other.mean())}),
        over_classic={name: paired(found, other, repetitions=500) for name, found in systems.items()},
        majority=0.5,
        terms="at equal minutes",
    )


def test_a_clear_winner_is_named() -> None:
    found = ranked(causal=0.7, masked=0.85, bert=0.75)
    assert (found.leader, found.use, found.outcome, found.ahead_of) == ("masked", "masked", "sure", ("bert", "causal"))
    assert found.sentence.startswith("At equal minutes, masked (0.8")
    assert "above bert (0.7" in found.sentence
    assert "beats the classic baseline" in found.sentence


def test_equal_rivals_are_noise() -> None:
    found = ranked(causal=0.801, masked=0.80, bert=0.80)
    assert (found.outcome, found.ahead_of) == ("noise", ())
    assert found.sentence.startswith("The difference is noise: at equal minutes, ")


def test_one_may_be_behind_while_two_are_level() -> None:
    found = ranked(causal=0.7, masked=0.85, bert=0.85)
    assert (found.outcome, found.ahead_of) == ("partly", ("causal",))
    assert "cannot be told apart" in found.sentence
    assert "above causal" in found.sentence


def test_the_classic_baseline_is_recommended_where_nobody_beats_it() -> None:
    found = ranked(classic=0.9, causal=0.7, masked=0.85)
    assert found.use == "classic"
    assert "Use the classic baseline: words (0.8" in found.sentence
    assert "better than masked" in found.sentence


def test_where_nothing_was_learnt_there_is_no_winner() -> None:
    found = ranked(classic=0.5, causal=0.5, masked=0.49)
    assert found.use == "nothing"
    assert any("may have learnt nothing" in remark for remark in found.remarks)


def test_a_lead_that_only_one_of_several_tests_finds_is_not_sure() -> None:
    """An interval that leaves nought out is not enough when the adjusted p is above 5 %."""
    standing = {name: Standing(name, Interval(0.8, 0.78, 0.82), 1.0, {0: 0.8, 1: 0.8}) for name in "abc"}
    gap = Paired(Interval(0.02, 0.001, 0.04), 0.03, 2, 2)
    gaps = {("a", "b"): gap, ("a", "c"): gap, ("b", "c"): gap}
    found = rank(standing, gaps, classic=standing["a"], over_classic=dict.fromkeys("abc", gap), majority=0.5, terms="t")
    assert found.outcome == "noise"


def test_the_classic_baseline_is_beaten_only_if_the_number_of_rivals_is_allowed_for() -> None:
    standing = {name: Standing(name, Interval(0.8, 0.78, 0.82), 1.0, {0: 0.8, 1: 0.8}) for name in "abc"}
    gaps = {pair: Paired(Interval(0.0, -0.01, 0.01), 0.9, 1, 2) for pair in combinations("abc", 2)}
    found = {}
    for p in (0.01, 0.03):
        over = dict.fromkeys("abc", Paired(Interval(0.02, 0.001, 0.04), p, 2, 2))
        found[p] = rank(standing, gaps, classic=standing["a"], over_classic=over, majority=0.5, terms="t")
    assert found[0.01].use == "a"
    assert found[0.03].use == "classic"
    assert "cannot be told from a" in found[0.03].sentence


def test_one_seed_and_collapsed_seeds_are_told() -> None:
    standing = {
        "a": Standing("a", Interval(0.7, 0.6, 0.8), 1.0, {0: 0.85, 1: 0.5, 2: 0.86}),
        "b": Standing("b", Interval(0.8, 0.78, 0.82), 1.0, {0: 0.8}),
    }
    gap = Paired(Interval(-0.1, -0.2, -0.05), 0.001, 0, 1)
    found = rank(standing, {("a", "b"): gap}, classic=standing["b"], over_classic={"b": gap}, majority=0.5, terms="t")
    assert found.leader == "b"
    assert any(remark.startswith("One seed only") for remark in found.remarks)
    assert any(remark.startswith("Collapsed: a with seed 1 (0.500)") for remark in found.remarks)


def test_the_adjustment_is_holms() -> None:
    values = [0.01, 0.04, 0.03, 0.2]
    gaps = {(str(i), "x"): Paired(Interval(0, 0, 0), p, 0, 1) for i, p in enumerate(values)}
    assert list(map(adjusted_p(gaps).get, gaps)) == pytest.approx([0.04, 0.09, 0.09, 0.2])
    looser = false_discovery_control(values)
    assert all(holm >= other - 1e-12 for holm, other in zip(map(adjusted_p(gaps).__getitem__, gaps), looser))

"""Who leads by number of labels is called sure by the same rule as in the verdict."""

import numpy as np

from headstart.evaluate.significance import paired
from headstart.recipes.shooting.label_race import label_race

NAMES = ("causal", "masked", "bert")


def right_on(count: int, texts: int = 100) -> np.ndarray:
    """(2, N): two seeds that got the first so many right."""
    return np.tile(np.arange(texts) < count, (2, 1))


def test_a_lead_that_one_of_many_tests_finds_is_not_sure() -> None:
    """Six texts more: the interval leaves nought out and p is 0.03, but nine tests were made."""
    alone = paired(right_on(66), right_on(60))
    assert alone.difference.sure
    assert alone.p < 0.05
    rights = {name: {n: right_on(66 if (name, n) == ("bert", 50) else 60) for n in (20, 50, 80)} for name in NAMES}
    found = label_race(rights, NAMES, 80)
    assert found is not None
    lead = found["leads"][1]
    assert (lead["labels"], lead["leader"]) == (50, "bert")
    assert lead["p_adjusted"] > 0.05
    assert found["sentence"].startswith("With no number of labels is the first surely ahead")


def test_a_clear_lead_is_sure() -> None:
    rights = {name: {n: right_on(90 if name == "masked" and n == 50 else 60) for n in (20, 50)} for name in NAMES}
    found = label_race(rights, NAMES, 50)
    assert found is not None
    assert "with 50 masked leads" in found["sentence"]
    assert "with 20 the first two cannot be told apart" in found["sentence"]

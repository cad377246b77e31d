"""How often labels are gone over, where nobody says it."""

import pytest

from headstart.train.settings import FineTuning


@pytest.mark.parametrize(("labels", "epochs"), [(10, 40), (50, 38), (200, 12), (1_000, 4), (1_600, 4), (25_000, 4)])
def test_few_labels_are_gone_over_more_often(labels: int, epochs: int) -> None:
    assert FineTuning().epochs_for(labels) == epochs


def test_a_number_that_is_given_is_kept() -> None:
    assert FineTuning(epochs=2).epochs_for(10) == 2

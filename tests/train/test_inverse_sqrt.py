"""The paper's schedule, against its own formula."""

import pytest

from headstart.train.optimiser import rate_schedule


def test_it_is_the_papers_formula() -> None:
    width, rise = 512, 4_000
    rate_at = rate_schedule(width**-0.5 * rise**-0.5, 100_000, warmup=rise / 100_000, decay="inverse-sqrt", floor=0.0)
    for step in (1, 100, 3_999, 4_000, 4_001, 50_000, 100_000):
        paper = width**-0.5 * min(step**-0.5, step * rise**-1.5)
        assert rate_at(step - 1) == pytest.approx(paper)
    assert rate_schedule(1.0, 100, warmup=0.01, decay="inverse-sqrt", floor=0.5)(99) == 0.5

"""The highest scores of each row are those that `topk` finds."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from headstart.generate.highest import highest


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5_000), st.integers(1, 40), st.floats(0, 1))
def test_the_highest_are_found_wherever_they_stand(
    seed: int, rows: int, count: int, most: int, forbidden: float
) -> None:
    torch.manual_seed(seed)
    scores = torch.randn(rows, count).sort(dim=1, descending=bool(seed % 2)).values  # close together, or at the end
    scores[torch.rand(rows, count) < forbidden] = -torch.inf
    values, places = highest(scores, most)
    expected = scores.topk(min(most, count), dim=1).values
    torch.testing.assert_close(values, expected, rtol=0, atol=0)
    torch.testing.assert_close(scores.gather(1, places), expected, rtol=0, atol=0)
    assert all(len(set(row)) == len(row) for row in places.tolist())

"""A past gives back what it was given, however far it grows and however its rows are chosen."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from headstart.generate.past import GrowingPast


def test_the_past_keeps_what_it_was_given_while_its_room_grows() -> None:
    past, parts = GrowingPast(), [torch.randn(2, 3, n, 4) for n in (5, 1, 40, 1, 200)]
    for part in parts:
        keys, values = past.extend(part, -part)
    torch.testing.assert_close(keys, torch.cat(parts, dim=2))
    torch.testing.assert_close(values, -torch.cat(parts, dim=2))


def test_rows_may_be_repeated_and_left_out_even_before_there_are_any() -> None:
    past, rows = GrowingPast(), torch.tensor([2, 2])
    past.select(rows)
    part = torch.randn(3, 2, 5, 4)
    past.extend(part, -part)
    past.select(rows)
    keys, values = past.extend(part[rows], -part[rows])
    torch.testing.assert_close(keys, torch.cat([part, part], dim=2)[rows])
    torch.testing.assert_close(values, -keys)


@given(st.lists(st.one_of(st.integers(1, 40), st.lists(st.integers(0, 99), min_size=1, max_size=6)), max_size=12))
def test_any_order_of_growing_and_choosing(deeds: list[int | list[int]]) -> None:
    """A number is so many more positions, a list is rows to keep."""
    past, all_there_is = GrowingPast(), torch.randn(4, 2, 3, 5)
    past.extend(all_there_is, -all_there_is)
    for deed in deeds:
        if isinstance(deed, list):
            rows = torch.tensor(deed) % len(all_there_is)
            past.select(rows)
            all_there_is = all_there_is[rows]
        else:
            new = torch.randn(len(all_there_is), 2, deed, 5)
            all_there_is = torch.cat([all_there_is, new], dim=2)
            keys, values = past.extend(new, -new)
            assert torch.equal(keys, all_there_is)
            assert torch.equal(values, -all_there_is)

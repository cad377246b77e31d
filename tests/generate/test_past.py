"""A past gives back what it was given, however far it grows and however its rows are chosen."""

import torch

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
    past.select_memory(rows)
    part = torch.randn(3, 2, 5, 4)
    past.extend(part, -part)
    past.select(rows)
    keys, values = past.extend(part[rows], -part[rows])
    torch.testing.assert_close(keys, torch.cat([part, part], dim=2)[rows])
    torch.testing.assert_close(values, -keys)

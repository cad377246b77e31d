"""Rows that sleep end where torch's own AdamW would have taken them."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from headstart.train import rows
from headstart.train.optimiser import clip_gradients, moments, put_moments
from headstart.train.rows import TORN, RowAdamW, row_gradient, touched


def optimiser_of(table: nn.Parameter, decay: float, betas: tuple[float, float], lazy: bool = True) -> RowAdamW:
    return RowAdamW([{"params": [table], "weight_decay": decay}], [table] if lazy else [], betas)


def gradients(rows: int, width: int, steps: int, busy: float, seed: int) -> Iterator[Tensor]:
    """Some rows get a gradient at a step, as tokens of a batch do."""
    draw = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        chosen = torch.rand(rows, generator=draw) < busy
        yield torch.randn(rows, width, generator=draw) * chosen[:, None]


def sparse(gradient: Tensor) -> Tensor:
    rows, values = touched(gradient)
    halves = (row_gradient(rows, part, len(gradient), sparse=True) for part in (values * 0.5, values * 0.5))
    return next(halves) + next(halves)  # as two backward passes leave it


def take(optimiser: torch.optim.Optimizer, table: nn.Parameter, gradient: Tensor, rate: float) -> None:
    optimiser.param_groups[0]["lr"] = rate
    table.grad = gradient
    optimiser.step()


@settings(max_examples=20, deadline=None)
@given(
    rows=st.integers(1, 12),
    width=st.integers(1, 5),
    steps=st.integers(1, 60),
    busy=st.sampled_from([0.05, 0.3, 1.0]),
    decay=st.sampled_from([0.0, 0.1]),
    betas=st.sampled_from([(0.9, 0.98), (0.9, 0.999), (0.0, 0.9), (0.5, 0.5)]),
    seed=st.integers(0, 2**31),
)
def test_rows_follow_torch(
    rows: int, width: int, steps: int, busy: float, decay: float, betas: tuple[float, float], seed: int
) -> None:
    """The rate changes at each step; some rows are never touched, some at every step."""
    start = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))
    theirs, ours, dense = (nn.Parameter(start.clone()) for _ in range(3))
    oracle = torch.optim.AdamW([theirs], lr=0.0, betas=betas, weight_decay=decay)
    lazy, whole = optimiser_of(ours, decay, betas), optimiser_of(dense, decay, betas)
    for step, gradient in enumerate(gradients(rows, width, steps, busy, seed)):
        rate = 0.01 * (1 + step % 7)
        take(oracle, theirs, gradient.clone(), rate)
        take(lazy, ours, sparse(gradient), rate)
        take(whole, dense, gradient.clone(), rate)
        if step % 5 == 0:  # a batch is about to read a row
            lazy.wake(ours, torch.tensor([0, 0]))
            torch.testing.assert_close(ours[0], theirs[0], rtol=1e-4, atol=1e-5)
    lazy.wake_all()
    whole.wake_all()
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(dense, theirs, rtol=1e-4, atol=1e-5)


def test_sparse_and_dense_gradients_give_the_same_bytes() -> None:
    one, other = (nn.Parameter(torch.ones(9, 4)) for _ in range(2))
    first, second = (optimiser_of(table, 0.1, (0.9, 0.98)) for table in (one, other))
    for gradient in gradients(9, 4, 30, 0.3, 1):
        take(first, one, sparse(gradient), 0.01)
        take(second, other, gradient, 0.01)
    assert torch.equal(one, other)


def test_only_touched_rows_are_written() -> None:
    table = nn.Parameter(torch.ones(6, 2))
    optimiser = optimiser_of(table, 0.1, (0.9, 0.98))
    take(optimiser, table, torch.eye(6)[:, :2].contiguous(), 0.1)
    assert (table[:2] != 1).any(1).all()
    assert torch.equal(table[2:], torch.ones(4, 2))
    take(optimiser, table, row_gradient(torch.tensor([5]), torch.ones(1, 2), 6, sparse=True), 0.1)
    assert torch.equal(table[2:5], torch.ones(3, 2))
    assert (table[5] != 1).all()


def test_a_bias_has_rows_of_one_number() -> None:
    theirs, ours = (nn.Parameter(torch.ones(5)) for _ in range(2))
    oracle, lazy = torch.optim.AdamW([theirs], weight_decay=0.0), optimiser_of(ours, 0.0, (0.9, 0.999))
    for gradient in gradients(5, 1, 30, 0.4, 2):
        take(oracle, theirs, gradient[:, 0].clone(), 0.01)
        take(lazy, ours, sparse(gradient[:, 0]), 0.01)
    lazy.wake_all()
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lazy_first", [True, False])
def test_a_state_passes_between_sleeping_and_dense_rows(lazy_first: bool) -> None:
    """A run of two workers, whose gradients are dense, may go on with one, and the other way round."""
    theirs, ours, after = (nn.Parameter(torch.ones(9, 4)) for _ in range(3))
    oracle = torch.optim.AdamW([theirs], weight_decay=0.1, betas=(0.9, 0.98))
    before = optimiser_of(ours, 0.1, (0.9, 0.98), lazy_first)
    then = optimiser_of(after, 0.1, (0.9, 0.98), not lazy_first)
    for step, gradient in enumerate(gradients(9, 4, 40, 0.3, 3)):
        take(oracle, theirs, gradient.clone(), 0.01)
        if step == 20:
            after.data.copy_(ours.data)
            then.take(after, {name: value.clone() for name, value in before.state[ours].items()})
        take(*((before, ours) if step < 20 else (then, after)), gradient.clone(), 0.01)
    then.wake_all()
    torch.testing.assert_close(after, theirs, rtol=1e-4, atol=1e-5)


def test_rows_that_were_woken_by_half_are_not_to_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    table = nn.Parameter(torch.ones(4, 2))
    optimiser = optimiser_of(table, 0.1, (0.9, 0.98))
    for gradient in (torch.ones(4, 2), torch.eye(4)[:, :2].contiguous()):
        take(optimiser, table, gradient, 0.1)

    def second_signal(*words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rows, "_reset", second_signal)
    with pytest.raises(KeyboardInterrupt) as caught:
        optimiser.wake_all()
    assert TORN in caught.value.__notes__


def test_the_count_of_steps_goes_where_the_fused_step_reads_it() -> None:
    """Beside the weights, as torch's own load_state_dict has it."""
    here, there = nn.Linear(2, 2), nn.Linear(2, 2, device="meta")
    before = RowAdamW([{"params": list(here.parameters())}], [], (0.9, 0.98))
    here(torch.ones(1, 2)).sum().backward()
    before.step()
    after = RowAdamW([{"params": list(there.parameters())}], [], (0.9, 0.98))
    put_moments(there, after, moments(here, before))
    assert {value.device.type for state in after.state.values() for value in state.values()} == {"meta"}


def test_overflow_in_half_precision_changes_nothing() -> None:
    table = nn.Parameter(torch.ones(4, 2))
    optimiser = optimiser_of(table, 0.1, (0.9, 0.98))
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(table.sum()).backward()
    optimiser.param_groups[0]["lr"] = 0.1
    table.grad = row_gradient(torch.tensor([1]), torch.full((1, 2), torch.inf), 4, sparse=True)
    scaler.unscale_(optimiser)
    scaler.step(optimiser)
    scaler.update()
    assert torch.equal(table, torch.ones(4, 2))
    assert not optimiser.state[table]
    assert scaler.get_scale() == 4.0
    table.grad = row_gradient(torch.tensor([1]), torch.full((1, 2), 4.0), 4, sparse=True)
    scaler.unscale_(optimiser)
    assert torch.equal(table.grad.coalesce().values(), torch.ones(1, 2))
    scaler.step(optimiser)
    assert (table[1] != 1).all()


@pytest.mark.parametrize("most", [0.0, 0.5, 1e6])
def test_clipping_equals_torch(most: float) -> None:
    pairs = [(nn.Parameter(torch.ones(7, 3)), nn.Parameter(torch.ones(2))) for _ in range(2)]
    gradient = next(gradients(7, 3, 1, 0.5, 4))
    for (table, bias), grad in zip(pairs, (gradient.clone(), sparse(gradient))):
        table.grad, bias.grad = grad, torch.ones(2)
    theirs = nn.utils.clip_grad_norm_(pairs[0], most or torch.inf)
    ours = clip_gradients(torch.optim.SGD(pairs[1]), most)
    torch.testing.assert_close(ours, theirs)
    for one, other in zip(*pairs):
        assert one.grad is not None
        assert other.grad is not None
        torch.testing.assert_close(other.grad.to_dense(), one.grad)

"""AdamW in which the rows of a large table that no batch reads cost nothing until they are read again."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

TORN = "The optimiser was in the middle of a step, so the weights in memory are not those of any step."


class RowAdamW(torch.optim.AdamW):
    """torch's fused AdamW, but in `tables` only rows with a gradient are updated; the others sleep.

    While a row sleeps for k steps, its moments fade to β₁ᵏ m and β₂ᵏ v, its weights decay, and they drift by what
    is left of the momentum, Σᵢ rateᵢ (β₁/√β₂)ⁱ m / (√v + ε). These sums are the same for a whole row, so each row
    keeps three numbers: `gap` (k), `fade` (the decay) and `drift` (the sum). `wake` brings a row up to date before
    it is read: what a batch sees are AdamW's own weights, to rounding, but where √v is as small as ε. A gradient may be
    dense or row-sparse.
    """

    def __init__(self, groups: list[dict[str, Any]], tables: Iterable[nn.Parameter], betas: tuple[float, float]):
        super().__init__(groups, lr=0.0, betas=betas, fused=True)
        self.tables = {id(table): table for table in tables}
        for parameter in (p for group in self.param_groups for p in group["params"]):
            parameter.keeper = self if id(parameter) in self.tables else None

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        assert closure is None
        overflow = getattr(self, "found_inf", None)  # set by a gradient scaler
        for group in self.param_groups:
            for table in group["params"]:
                if id(table) in self.tables and table.grad is not None:
                    gradient, table.grad = table.grad, None
                    if overflow is None or not overflow.item():
                        self._update(table, gradient, group)
        super().step()

    @torch.no_grad()
    def wake(self, table: Tensor, rows: Tensor | None = None) -> None:
        """Bring rows (all of them, if none are named) up to the last step."""
        state = self.state.get(table)
        if not state:
            return
        asleep = state["gap"] > 0
        if rows is not None:
            asleep &= torch.zeros_like(asleep).index_fill_(0, rows.flatten(), True)
        found = asleep.nonzero().squeeze(1)
        if not len(found):
            return
        group = next(group for group in self.param_groups if any(p is table for p in group["params"]))
        beta1, beta2 = group["betas"]
        gap, fade, drift = (_beside(state[name][found], table) for name in ("gap", "fade", "drift"))
        first, second = state["exp_avg"][found], state["exp_avg_sq"][found]
        weights = table[found].mul_(fade).addcdiv_(first * drift, second.sqrt().add_(group["eps"]), value=-1)
        try:
            table.index_copy_(0, found, weights)
            state["exp_avg"].index_copy_(0, found, first.mul_(beta1**gap))
            state["exp_avg_sq"].index_copy_(0, found, second.mul_(beta2**gap))
            _reset(state, found)
        except BaseException as error:  # a second Ctrl-C: half woken, rows would be woken twice
            error.add_note(TORN)
            raise

    def wake_all(self) -> None:
        for table in self.tables.values():
            self.wake(table)

    def take(self, table: nn.Parameter, state: dict[str, Tensor]) -> None:
        """Go on from a saved state, also from one whose rows slept where ours do not, or the other way round."""
        self.state[table] = state
        if id(table) in self.tables:
            state["step"] = state["step"].cpu()  # where `_start` puts it; the fused step wants it beside the weights
            state.update({name: value for name, value in awake(table).items() if name not in state})
        elif "gap" in state:
            self.wake(table)
            for name in awake(table):
                del state[name]

    def _update(self, table: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        """AdamW on the rows with a gradient; one more step of sleep for the others."""
        rows, values = touched(gradient)
        self.wake(table, rows)
        state = self.state[table] or self._start(table)
        state["step"] += 1
        rate, (beta1, beta2), step = group["lr"], group["betas"], state["step"].item()
        keeps = 1 - rate * group["weight_decay"]
        slow, fast = 1 - beta1**step, math.sqrt(1 - beta2**step)

        state["gap"] += 1
        state["fade"] *= keeps
        state["drift"].mul_(keeps).add_((beta1 / math.sqrt(beta2)) ** state["gap"], alpha=rate * fast / slow)
        _reset(state, rows)

        first = state["exp_avg"][rows].lerp_(values, 1 - beta1)
        second = state["exp_avg_sq"][rows].mul_(beta2).addcmul_(values, values, value=1 - beta2)
        state["exp_avg"].index_copy_(0, rows, first)
        state["exp_avg_sq"].index_copy_(0, rows, second)
        weights = table[rows].mul_(keeps)
        weights.addcdiv_(first, second.sqrt_().div_(fast).add_(group["eps"]), value=-rate / slow)
        table.index_copy_(0, rows, weights)

    def _start(self, table: Tensor) -> dict[str, Tensor]:
        state = self.state[table]
        state["step"] = torch.zeros(())
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(table), torch.zeros_like(table)
        state.update(awake(table))
        return state


def awake(table: Tensor) -> dict[str, Tensor]:
    """The three numbers of each row of a table that is up to date."""
    zeros = torch.zeros(len(table), dtype=torch.float32, device=table.device)
    return {"gap": zeros, "fade": torch.ones_like(zeros), "drift": zeros.clone()}


def wake(table: Tensor, rows: Tensor) -> None:
    """Before rows of a table are read in training: bring them up to date, where an optimiser lets them sleep."""
    keeper: RowAdamW | None = getattr(table, "keeper", None)
    if keeper is not None:
        keeper.wake(table, rows)


def keeps_rows(table: Tensor) -> bool:
    """True where an optimiser wants the table's gradient row by row."""
    return getattr(table, "keeper", None) is not None


def row_gradient(rows: Tensor, values: Tensor, size: int, *, sparse: bool) -> Tensor:
    """A gradient of `size` rows that is zero but in the given ones, sorted and each named once."""
    shape = (size, *values.shape[1:])
    if sparse:
        return torch.sparse_coo_tensor(rows[None], values, shape, is_coalesced=True, check_invariants=False)
    return values.new_zeros(shape).index_copy_(0, rows, values)


def touched(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The rows that a gradient speaks of, and its values there."""
    if gradient.is_sparse:
        gradient = gradient.coalesce()
        return gradient.indices()[0], gradient.values()
    rows = (gradient != 0).flatten(1).any(1) if gradient.dim() > 1 else gradient != 0
    found = rows.nonzero().squeeze(1)
    return found, gradient[found]


def _reset(state: dict[str, Tensor], rows: Tensor) -> None:
    for name, value in (("gap", 0.0), ("fade", 1.0), ("drift", 0.0)):
        state[name].index_fill_(0, rows, value)


def _beside(numbers: Tensor, table: Tensor) -> Tensor:
    """One number a row, in a shape that multiplies rows of the table."""
    return numbers.view(-1, *[1] * (table.dim() - 1))

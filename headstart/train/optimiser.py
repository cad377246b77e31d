"""AdamW, the rate at each step, and which parts learn how fast."""

import math
from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from headstart.train.rows import RowAdamW
from headstart.train.tables import lazy_tables

Decay = Literal["cosine", "linear", "constant", "inverse-sqrt"]


def rate_schedule(peak: float, steps: int, *, warmup: float, decay: Decay, floor: float) -> Callable[[int], float]:
    """The rate of step 0, 1, …: a straight rise over the share `warmup`, then down to `floor` × peak.

    With inverse-sqrt, as in the paper: ∝ min(step, rise^1.5 / √step), and never below `floor` × peak.
    """
    rise = max(1, round(warmup * steps))

    def rate_at(step: int) -> float:
        if step < rise:
            return peak * (step + 1) / rise
        if decay == "inverse-sqrt":
            return peak * max(floor, math.sqrt(rise / (step + 1)))
        done = min(1.0, (step - rise) / max(1, steps - rise))
        left = {"cosine": (1 + math.cos(math.pi * done)) / 2, "linear": 1 - done, "constant": 1.0}[decay]
        return peak * (floor + (1 - floor) * left)

    return rate_at


def adamw(
    model: nn.Module,
    *,
    weight_decay: float,
    betas: tuple[float, float],
    scales: Mapping[str, float] | None = None,
    starts: Mapping[str, float] | None = None,
    sampled: bool = False,
) -> RowAdamW:
    """Matrices decay, biases and norms do not.

    By the start of their names, `scales` slows parameters (0: frozen) and `starts` lets them wait for a step.
    `sampled` says that the loss reads only a sample of the output matrix. Of large tables, only the rows that a
    step reads pay.
    """
    groups: dict[tuple[float, float, float], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        scale, start = longest_fit(name, scales or {}, 1.0), longest_fit(name, starts or {}, 0.0)
        parameter.requires_grad_(scale > 0)
        if scale > 0:
            groups.setdefault((weight_decay if parameter.dim() > 1 else 0.0, scale, start), []).append(parameter)
    options = [
        {"params": parameters, "weight_decay": decay, "scale": scale, "start": start}
        for (decay, scale, start), parameters in groups.items()
    ]
    drifts_end = betas[0] < math.sqrt(betas[1])  # else a row that sleeps would drift ever faster
    tables = lazy_tables(model, sampled=sampled) if drifts_end else []
    return RowAdamW(options, tables, betas)


def longest_fit(name: str, values: Mapping[str, float], otherwise: float) -> float:
    """The value of the longest prefix that fits."""
    fitting = [prefix for prefix in values if name.startswith(prefix)]
    return values[max(fitting, key=len)] if fitting else otherwise


def layer_scales(depth: int, decay: float) -> dict[str, float]:
    """The head learns at full rate, each layer below it `decay` times as fast as the one above."""
    scales = {f"body.blocks.{i}.": decay ** (depth - i) for i in range(depth)}
    return {"body.": decay ** (depth + 1), "body.final_norm": 1.0, **scales}


def set_rate(optimiser: torch.optim.Optimizer, rate: float, step: int) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate * group["scale"] if step >= group["start"] else 0.0


def moments(model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimiser remembers, by the name of the parameter: plain tensors, no pickle."""
    found = {}
    for name, parameter in model.named_parameters():
        for kind, value in optimiser.state.get(parameter, {}).items():
            found[f"{kind}/{name}"] = value.detach().cpu().contiguous()
    return found


def clip_gradients(optimiser: torch.optim.Optimizer, most: float) -> Tensor:
    """Shorten all gradients, dense and row-sparse, to a joint length of at most `most` (0: any). -> it, before"""
    values = [_values(p) for group in optimiser.param_groups for p in group["params"] if p.grad is not None]
    norm = nn.utils.get_total_norm(values)
    if most > 0:
        scale = (most / (norm + 1e-6)).clamp(max=1.0)
        torch._foreach_mul_(values, scale)
    return norm


def _values(parameter: nn.Parameter) -> Tensor:
    """The numbers of its gradient, each row once."""
    assert parameter.grad is not None
    if not parameter.grad.is_sparse:
        return parameter.grad
    parameter.grad = parameter.grad.coalesce()
    return parameter.grad.values()


def put_moments(model: nn.Module, optimiser: RowAdamW, found: Mapping[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        kinds = {key.split("/", 1)[0]: value for key, value in found.items() if key.split("/", 1)[1] == name}
        if kinds:
            on = {kind: value.to(parameter.device, copy=not value.dim()) for kind, value in kinds.items()}
            optimiser.take(parameter, on)

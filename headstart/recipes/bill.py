"""The bill before training: what a shape costs, checked against the model that it builds."""

from dataclasses import dataclass
from typing import Any

import torch

from headstart.checkpoint import build
from headstart.errors import ConfigError
from headstart.model import bill as bills
from headstart.model.models import Task
from headstart.model.shape import Shape


@dataclass(frozen=True)
class Costs:
    """Everything `headstart bill` shows."""

    shape: Shape
    task: Task
    rows: int
    length: int
    kernel: int
    lines: list[bills.Line]
    total: int
    built: int
    work: bills.Work
    memory: bills.Memory
    layer_costs: dict[str, tuple[str, int]]
    advice: list[str]

    def to_json(self) -> dict[str, Any]:
        memory = {**vars(self.memory), "total": self.memory.total}
        layers = {kind: {"formula": formula, "operations": n} for kind, (formula, n) in self.layer_costs.items()}
        return {
            "task": self.task,
            "total": self.total,
            "built": self.built,
            "lines": [vars(line) for line in self.lines],
            "flops_per_token": vars(self.work),
            "memory_bytes": memory,
            "layer_costs": layers,
            "at": {"batch": self.rows, "length": self.length, "kernel": self.kernel},
            "shape": vars(self.shape),
            "advice": self.advice,
        }


def built_parameters(shape: Shape, task: Task = "lm", *, classes: int = 2) -> int:
    """Count the parameters of the real model, built without memory for its weights."""
    with torch.device("meta"):
        model = build(task, shape, classes=classes)
    return sum(parameter.numel() for parameter in model.parameters())


def draw_up(shape: Shape, task: Task, *, rows: int, length: int, kernel: int = 3, classes: int = 2) -> Costs:
    """Derive the bill from the shape, build the model, and compare the two to the unit."""
    if min(rows, length, kernel, classes) < 1:
        raise ConfigError("--batch, --length, --kernel and --classes must be at least 1")
    if shape.positions == "learned" and length > shape.context:
        raise ConfigError(f"--length {length}: only {shape.context} positions are learnt (model.context)")
    lines = bills.bill(shape, task, classes=classes)
    total, built = bills.total(lines), built_parameters(shape, task, classes=classes)
    assert total == built, f"the bill says {total:,}, the model has {built:,}"
    return Costs(
        shape=shape,
        task=task,
        rows=rows,
        length=length,
        kernel=kernel,
        lines=lines,
        total=total,
        built=built,
        work=bills.work(shape, task, length=length, classes=classes),
        memory=bills.memory(shape, task, rows=rows, length=length, classes=classes),
        layer_costs=bills.layer_costs(length, shape.width, kernel),
        advice=bills.advice(shape, task, length=length),
    )

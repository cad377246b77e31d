"""Weights on the way: a few models of one training, kept to be averaged when it is over.

A point that a killed run left behind is written again by the resumed one, with the same bytes; what lies ahead of it
is forgotten. So the points at the end of a run, and their mean, are those of an uninterrupted one.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from headstart.checkpoint import write_tensors
from headstart.errors import CheckpointError
from headstart.whole import find_whole, write_whole

WEIGHTS, NOTE = "model.safetensors", "point.json"


@dataclass(frozen=True)
class Points:
    """At most `most` of them, the last or the best; `folder` holds one folder for each, named by its step."""

    folder: Path
    most: int
    which: Literal["last", "best"] = "last"

    def add(self, step: int, figure: float, model: nn.Module) -> None:
        """A higher figure is better."""
        for ahead in [place for place in self.steps() if place > step]:
            self._forget(ahead)

        def fill(new: Path) -> None:
            weights = {name: value.detach().cpu().contiguous() for name, value in model.named_parameters()}
            write_tensors(weights, new / WEIGHTS)
            (new / NOTE).write_text(json.dumps({"step": step, "figure": figure}) + "\n", "utf-8")

        write_whole(self._place(step), fill)
        order = {"last": lambda place: (place,), "best": lambda place: (self._figure(place), place)}[self.which]
        for left_over in sorted(self.steps(), key=order)[: -self.most]:
            self._forget(left_over)

    def steps(self) -> list[int]:
        if not self.folder.is_dir():
            return []
        return sorted(int(path.name) for path in self.folder.iterdir() if path.name.isdigit() and path.is_dir())

    def mean(self) -> dict[str, Tensor]:
        """Of all points, tensor by tensor; summed in double precision."""
        steps = self.steps()
        assert steps, "no points to average"
        total: dict[str, Tensor] = {}
        for step in steps:
            for name, value in load_file(find_whole(self._place(step)) / WEIGHTS).items():
                total[name] = total[name] + value.double() if name in total else value.double()
        return {name: (value / len(steps)).float() for name, value in total.items()}

    def _figure(self, step: int) -> float:
        path = find_whole(self._place(step)) / NOTE
        try:
            return float(json.loads(path.read_text("utf-8"))["figure"])
        except (ValueError, KeyError, TypeError, OSError) as problem:
            raise CheckpointError(f"{path}: damaged: {problem}; start the run anew") from None

    def _place(self, step: int) -> Path:
        return self.folder / f"{step:08d}"

    def _forget(self, step: int) -> None:
        """It loses its name first: what is left by a kill in between is no point any more."""
        gone = self.folder / "gone"
        shutil.rmtree(gone, ignore_errors=True)
        self._place(step).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def put_mean(points: Points, model: nn.Module) -> None:
    """The mean of the points becomes the weights of `model`."""
    mean = points.mean()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(mean[name])

"""The points of metrics.jsonl as TensorBoard reads them: an event file in RUN/tensorboard."""

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from headstart.errors import ConfigError

FOLDER = "tensorboard"


def check_installed() -> None:
    if importlib.util.find_spec("tensorboard") is None:
        raise ConfigError(
            "--tensorboard needs a package that is not installed: pip install 'headstart[tensorboard]', "
            "or leave the option out; metrics.jsonl has the same numbers"
        )


class Board:
    """One event file, flushed with each event, so that a kill costs nothing.

    It is written anew from the journal when a run starts or resumes: no point stands twice, and a run that began
    without it has its whole past. Only the clock times of that past are lost, steps are what TensorBoard draws by.
    """

    def __init__(self, folder: Path, past: Iterable[Mapping[str, Any]] = ()):
        check_installed()
        from torch.utils.tensorboard.writer import SummaryWriter

        for file in folder.glob("events.out.tfevents.*"):
            file.unlink()
        self.writer = SummaryWriter(str(folder), purge_step=0)  # also forgets in a TensorBoard that is open
        for line in past:
            self._add(line)
        self.writer.flush()

    def write(self, line: Mapping[str, Any]) -> None:
        """A line of the journal: of a step if it has a rate, otherwise of an evaluation."""
        self._add(line)
        self.writer.flush()

    def _add(self, line: Mapping[str, Any]) -> None:
        group = "train" if "rate" in line else "evaluation"
        for name, value in line.items():
            if name != "step" and isinstance(value, int | float):
                self.writer.add_scalar(f"{group}/{name}", value, line["step"])

"""metrics.jsonl: one line per event, for a person's `tail -f` and a program's plots."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headstart.train.board import FOLDER, Board


class Journal:
    """Appends lines; `cut_back` forgets what came after the step at which a run is resumed."""

    def __init__(self, path: Path):
        self.path = path
        self.board: Board | None = None

    def write(self, step: int, **values: Any) -> None:
        line = {"step": step, **{name: _plain(value) for name, value in values.items()}}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if self.board is not None:
            self.board.write(line)

    def read(self) -> Iterator[dict[str, Any]]:
        """The whole lines; one that a crash cut short is left out."""
        if not self.path.is_file():
            return
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    return

    def cut_back(self, step: int, evaluated: int) -> None:
        """Keep steps up to `step`, and evaluations up to `evaluated`: the one after it will be done again."""
        kept = [line for line in self.read() if line["step"] <= (step if "rate" in line else evaluated)]
        aside = self.path.with_suffix(".new")
        aside.write_text("".join(json.dumps(line) + "\n" for line in kept), "utf-8")
        aside.replace(self.path)

    def show_on_board(self) -> None:
        """From here on, what is written is also shown by TensorBoard, together with what stands here already."""
        self.board = Board(self.path.with_name(FOLDER), self.read())


def _plain(value: Any) -> Any:
    """JSON knows no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""The arms of a comparison: one training of one system with one seed on one set of labels.

    arms/pretrained-seed-0/    inputs.json  run.toml  metrics.jsonl  best/  result.json  test.json
    arms/words/                inputs.json  result.json  test.json

`inputs.json` is written before the arm begins: all that its result depends on. `result.json` is written last and
whole: where it stands, the arm is finished. `test.json` comes after every arm is finished.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.checkpoint import Card
from headstart.errors import RunError

Table = dict[str, Any]
ARMS, INPUTS, RESULT, TEST = "arms", "inputs.json", "result.json", "test.json"
NEURAL = ("pretrained", "scratch")


@dataclass(frozen=True, kw_only=True)
class Start:
    """What the models of a system start from: a `run` with this card and hash, or from scratch in its shape."""

    system: str
    card: Card
    run: Path | None = None
    parent: str = "scratch"


@dataclass(frozen=True, kw_only=True)
class Arm:
    """`rows` are numbers of training rows; `few` says that these are not all. `inputs` is compared on --resume.

    A classic baseline has no `start`.
    """

    system: str
    seed: int
    rows: tuple[int, ...]
    few: bool
    epochs: int
    inputs: Mapping[str, Any]
    start: Start | None = None

    @property
    def neural(self) -> bool:
        return self.start is not None

    @property
    def name(self) -> str:
        labels = f"-{len(self.rows)}-labels" if self.few else ""
        return f"{self.system}{labels}-seed-{self.seed}" if self.neural or self.few else self.system

    def folder(self, out: Path) -> Path:
        return out / ARMS / self.name

    def finished(self, out: Path) -> bool:
        return (self.folder(out) / RESULT).is_file()


def refuse_changed(arms: Sequence[Arm], out: Path) -> None:
    """Refuse to go on where an arm that was begun had other inputs, or would be left out of the report."""
    for arm in arms:
        refuse_other_inputs(arm.folder(out), arm.inputs)
    asked = {arm.name for arm in arms}
    left = sorted(path.parent.name for path in out.glob(f"{ARMS}/*/{RESULT}") if path.parent.name not in asked)
    if left:
        raise RunError(
            f"{out / ARMS / left[0]}: this arm is finished but not asked for now, and a report leaves no result out; "
            "ask for at least the same systems, --seeds, --seed and --label-counts, or start anew in another --out"
        )


def refuse_other_inputs(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Refuse to go on in a folder that was begun with other inputs than these."""
    path = folder / INPUTS
    before = read_json(path) if path.is_file() else dict(inputs)
    differences = [f"{name} was {_show(a)}, now {_show(b)}" for name, a, b in _differences(before, inputs)]
    if differences:
        raise RunError(
            f"{folder}: cannot go on, this was begun with other inputs: {'; '.join(differences)}. "
            "Use the old ones, or start anew in another --out"
        )


def write_json(path: Path, table: Mapping[str, Any]) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".new")
    try:
        with aside.open("w", encoding="utf-8") as file:
            json.dump(table, file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as problem:
        aside.unlink(missing_ok=True)
        raise RunError(
            f"{path}: cannot be written: {problem.strerror}; finished arms are kept, go on with --resume"
        ) from None


def read_json(path: Path) -> Table:
    try:
        table: Table = json.loads(path.read_text("utf-8"))
        return table
    except (OSError, ValueError) as problem:
        raise RunError(
            f"{path}: damaged ({problem}); delete the folder {path.parent} and go on with --resume"
        ) from None


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            found.append((prefix + name, old, new))
    return found


def _show(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return f"{text[:12]}…" if len(text) > 40 else text

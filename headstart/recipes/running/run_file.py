"""run.toml: every number that changes a result, written before the first step and compared on --resume."""

import os
import tomllib
from pathlib import Path
from typing import Any

import tomli_w
import torch

from headstart.errors import RunError
from headstart.train.device import multiplies_bfloat16

RUN_FILE = "run.toml"
HASH = 64  # letters of a SHA-256


def machine() -> dict[str, Any]:
    """What the bytes of a result may depend on beside the settings."""
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "bfloat16": multiplies_bfloat16(),
        "workers": int(os.environ.get("WORLD_SIZE", 1)),
    }


def write_run_file(folder: Path, settings: dict[str, Any], found: dict[str, Any]) -> None:
    """`settings` are what was asked for, `found` what follows from them and the data."""
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f"{RUN_FILE}.new"
    aside.write_text(tomli_w.dumps({**settings, "run": found, "machine": machine()}), "utf-8")
    aside.replace(folder / RUN_FILE)


def read_run_file(folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((folder / RUN_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise RunError(f"{folder / RUN_FILE}: damaged: {problem}") from None


def check_unchanged(folder: Path, settings: dict[str, Any], found: dict[str, Any]) -> str:
    """Refuse to go on with other settings or data; a sentence if only the machine is another."""
    written = read_run_file(folder)
    now = {**settings, "run": found}
    before = {name: value for name, value in written.items() if name != "machine"}
    fixed = {"steps", "evaluate_every", "seconds_per_step"}
    changed = [each for each in _compare(before, now) if each[0].removeprefix("run.") not in fixed]
    unknown = [name for name, *values in changed if None in values and not name.startswith("run.")]
    if unknown:
        raise RunError(
            f"{folder}: cannot go on, another version of headstart began this run, without the same settings: "
            f"{', '.join(unknown)} stand in one of them only. Go on with that version, or start anew in another --out"
        )
    if changed:
        differences = [_difference(*each) for each in changed]
        raise RunError(
            f"{folder}: cannot go on, the run has changed: {'; '.join(differences)}. "
            "Use the old values, or start anew in another --out"
        )
    if written.get("machine") != machine():
        return f"resumed elsewhere ({written.get('machine')} then, {machine()} now): equal to float tolerance only"
    return ""


def _compare(before: dict[str, Any], now: dict[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    found = []
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _compare(old, new, f"{prefix}{name}.")
        elif old != new:
            found.append((prefix + name, old, new))
    return found


def _difference(name: str, old: Any, new: Any) -> str:
    if {len(str(old)), len(str(new))} == {HASH}:
        return f"{name} is another"
    return f"{name} was {_show(old)}, now {_show(new)}"


def _show(value: Any) -> str:
    return "absent" if value is None else f"{str(value)[:12]}…" if len(str(value)) > 40 else str(value)


def phases(run: Path) -> list[Path]:
    """A run, the run that it went on from, and so on."""
    found = [run]
    while parent := read_run_file(found[-1]).get("run", {}).get("parent", ""):
        if Path(parent) in found:
            break
        found.append(Path(parent))
    return found

"""A folder that already holds a run is not written over by accident."""

import shutil
from pathlib import Path

from headstart.errors import RunError


def refuse_occupied(out: Path, *, force: bool = False, resume: bool = False) -> None:
    """Refuse a folder with anything in it, unless the user said --force or --resume."""
    for place in (out, *out.parents):
        if place.exists() and not place.is_dir():
            raise RunError(f"{place}: is a file, but a folder is to be written there")
    if not (force or resume) and out.is_dir() and any(out.iterdir()):
        raise RunError(
            f"{out}: already holds something. Choose another --out, add --force to replace it, "
            "or --resume to go on with a run that was stopped"
        )


def refuse_cleared(out: Path, *read: Path | None) -> None:
    """Refuse to make room where something lies that the new run is to be made from."""
    for path in read:
        if path is not None and path.resolve().is_relative_to(out.resolve()):
            raise RunError(f"{path}: lies in {out}, which --force is about to clear; move it elsewhere first")


def clear_run(out: Path) -> None:
    """Make room for a fresh run; tokens stay, since they are built again only if something changed."""
    for name in (
        "best",
        "last",
        "best.old",
        "last.old",
        "tokenizer",
        "source_tokenizer",
        "points",
        "tensorboard",
        "teacher",
    ):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in ("metrics.jsonl", "run.toml", "guesses.npy"):
        (out / name).unlink(missing_ok=True)

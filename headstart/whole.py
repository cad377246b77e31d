"""A folder that can prove that it is still what was written: a manifest with the size and hash of each file."""

import errno
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from headstart.errors import CheckpointError
from headstart.folder import whole_folder

MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1_000_000  # bytes


def write_whole(folder: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write files into a new folder, then put it in the place of `folder`."""
    try:
        with whole_folder(folder, MANIFEST) as new:
            fill(new)
            _seal(new)
            verify(new)
    except OSError as problem:
        raise CheckpointError(_why_not_written(folder, problem)) from None


def find_whole(folder: Path) -> Path:
    """`folder` if it is whole, else the one it replaced; a CheckpointError that names what is wrong."""
    old = folder.with_name(folder.name + ".old")
    try:
        verify(folder)
        return folder
    except CheckpointError:
        if not old.is_dir():
            raise
        verify(old)
        return old


def verify(folder: Path) -> None:
    """Every file is there, of the recorded size and hash, and nothing stands outside the folder."""
    files = _read_manifest(folder)
    for name, (size, digest) in files.items():
        path = folder / name
        if not path.is_file() or path.is_symlink():
            raise CheckpointError(f"{path}: missing; the folder is not whole. Use another checkpoint of this run")
        if path.stat().st_size != size:
            found = path.stat().st_size
            raise CheckpointError(f"{path}: {found:,} bytes, but {size:,} were written: truncated or altered")
        if sha256(path) != digest:
            raise CheckpointError(f"{path}: its SHA-256 is not the one recorded when it was written: altered")
    extra = sorted(_names(folder) - set(files))
    if extra:
        raise CheckpointError(f"{folder / extra[0]}: was not there when the folder was written")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(folder: Path) -> None:
    files = {name: [(folder / name).stat().st_size, sha256(folder / name)] for name in sorted(_names(folder))}
    (folder / MANIFEST).write_text(json.dumps({"format": 1, "files": files}, indent=1) + "\n", "utf-8")


def _read_manifest(folder: Path) -> dict[str, tuple[int, str]]:
    path = folder / MANIFEST
    if not path.is_file():
        what = "no such folder" if not folder.is_dir() else f"no {MANIFEST} in it, so it was not written whole"
        raise CheckpointError(f"{folder}: {what}")
    if path.stat().st_size > LARGEST_MANIFEST:
        raise CheckpointError(f"{path}: too large to be a list of files")
    try:
        files = json.loads(path.read_text("utf-8"))["files"]
        listed = {str(name): (int(size), str(digest)) for name, (size, digest) in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise CheckpointError(f"{path}: damaged, not a list of files with their sizes and hashes") from None
    for name in listed:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            raise CheckpointError(f"{path}: names {name!r}, which leaves the folder")
    return listed


def _names(folder: Path) -> set[str]:
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return set(files) - {MANIFEST}


def _why_not_written(folder: Path, problem: OSError) -> str:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(folder.parent).free if folder.parent.is_dir() else 0
        return (
            f"{folder}: the disk is full ({free / 1e6:,.0f} MB free); what was saved before is intact. "
            "Free some space, then run the same command with --resume"
        )
    return f"{folder}: cannot be written: {problem.strerror or problem}; what was saved before is intact"

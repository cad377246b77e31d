"""A folder that appears whole or not at all.

`last.new/` is filled and flushed, then `last/` steps aside to `last.old/` and the new one takes its name: at every
moment one of the three is whole, and readers take the first that is.
"""

import errno
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(folder: Path, marker: str, *, private: bool = True) -> Iterator[Path]:
    """Yields FOLDER.new to write in; when all went well it is flushed and takes the place of FOLDER.

    `marker` is a file that every such folder has: a FOLDER, .new or .old without it is not ours to delete.
    A folder that the user named is not `private`: an .old beside it may be the user's, and stays.
    """
    folder = folder.resolve()
    if folder == Path.cwd():
        raise FileExistsError(errno.EEXIST, "it is the folder you stand in, and is replaced as a whole", str(folder))
    fresh = folder.with_name(folder.name + ".new")
    old = folder.with_name(folder.name + ".old") if private else _free_name(folder)
    for path in (folder, fresh, old):
        _check_ours(path, marker)
    _remove(fresh, marker)
    fresh.mkdir(parents=True)
    (fresh / marker).touch()
    try:
        yield fresh
        for path in (*fresh.rglob("*"), fresh):
            _flush(path)
    except BaseException:
        _remove(fresh, marker)
        raise
    replaces = folder.exists()
    if replaces:
        _remove(old, marker)
        folder.rename(old)
    fresh.rename(folder)
    _flush(folder.parent)
    if replaces or private:
        _remove(old, marker)


def _free_name(folder: Path) -> Path:
    """A name beside FOLDER that nobody uses."""
    for number in itertools.count():
        path = folder.with_name(f"{folder.name}.old{number or ''}")
        if not path.exists():
            return path
    raise AssertionError("numbers do not end")


def survivor(folder: Path) -> Path:
    """FOLDER, or FOLDER.old where a crash came between the two renamings."""
    old = folder.with_name(folder.name + ".old") if folder.name else folder
    return old if old.is_dir() and not folder.exists() else folder


def is_occupied(folder: Path) -> bool:
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def _check_ours(path: Path, marker: str) -> None:
    if is_occupied(path) and not (path / marker).is_file():
        raise FileExistsError(errno.EEXIST, "it holds something else and would be lost", str(path))


def _remove(folder: Path, marker: str) -> None:
    """The marker goes last: what is left by a kill in between is still known as ours."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != marker:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _flush(path: Path) -> None:
    """Ask the system to put a file, or a folder's list of names, on the disk itself."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

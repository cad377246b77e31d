"""The files that a user's arguments mean."""

import atexit
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from headstart.config import did_you_mean
from headstart.errors import DataError
from headstart.text.records import Reading

USUAL = Reading()
PACKINGS = (".gz", ".xz", ".zst")
TABLES = (".csv", ".tsv", ".jsonl", ".parquet")
FORMS = (".txt", ".spm", *TABLES)


@dataclass(frozen=True)
class Source:
    """One file. `name` is how the user knows it; `named` is False for a file met inside a folder."""

    path: Path
    name: str
    form: str
    packing: str = ""
    named: bool = True

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def find_sources(paths: Iterable[str | Path]) -> tuple[Source, ...]:
    """Files as they are, folders opened up and sorted, `-` for what comes through the pipe."""
    return tuple(source for path in paths for source in _expand(path))


def source_at(path: str | Path) -> Source:
    """The file at `path`, whatever its ending; `.txt.gz` is the form `.txt` in the packing `.gz`."""
    if str(path) == "-":
        return _spooled()
    _check_readable(path)
    return _described(Path(path))


def known_form(source: Source) -> Source:
    """The same source, or a DataError that says which endings can be read.

    Files named after a language, as train.en and train.de.gz, are plain text.
    """
    if source.form in FORMS:
        return source
    if re.fullmatch(r"\.[a-z]{2}", source.form):
        return replace(source, form=".txt")
    ending = f"the ending '{source.form}' is unknown." if source.form else "a file without an ending."
    hint = did_you_mean(source.form, FORMS)
    raise DataError(
        f"{source.name}: {ending}{hint} Plain text is read from .txt, tables from .csv, .tsv, .jsonl, .parquet,"
        " each also with .gz, .xz or .zst at its end: rename or export the file"
    )


def kind_at(path: str | Path) -> str:
    """ "file", "folder", "other" (a pipe, a device), or "" where there is nothing or no way to it."""
    if not str(path):
        return ""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def _expand(path: str | Path) -> Iterator[Source]:
    if str(path) != "-" and kind_at(path) == "folder":
        yield from _inside(Path(path))
    else:
        yield known_form(source_at(path))


def _inside(folder: Path) -> Iterator[Source]:
    """Sorted by the path within the folder, so that the order is the same wherever the folder lies."""
    seen = sorted(_visible(folder), key=lambda path: path.relative_to(folder).parts)
    sources = [_described(path, named=False) for path in seen]
    readable = [source for source in sources if source.form in FORMS]
    if not readable:
        endings = sorted({"".join(path.suffixes[-2:]) or path.name for path in seen})
        there = f"only files with these endings: {', '.join(endings[:10])}" if endings else "no file at all"
        raise DataError(f"{folder}: nothing to read in this folder; it holds {there}. Known: {', '.join(FORMS)}")
    for source in readable:
        _check_readable(source.path)
    yield from readable


def _visible(folder: Path) -> Iterator[Path]:
    def refuse(problem: OSError) -> None:
        raise DataError(f"{problem.filename}: {problem.strerror}")

    for root, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(root, name) for name in names if not name.startswith("."))


def _described(path: Path, *, named: bool = True) -> Source:
    packing = path.suffix.lower() if path.suffix.lower() in PACKINGS else ""
    inner = Path(path.stem) if packing else path
    return Source(path, str(path), inner.suffix.lower(), packing, named)


def _check_readable(path: str | Path) -> None:
    kind = kind_at(path)
    if not kind:
        raise DataError(f"{str(path) or repr('')}: no such file or folder")
    if kind == "folder":
        raise DataError(f"{path}: a folder, but one file is needed here")
    if kind == "other":
        raise DataError(f"{path}: a pipe or device can't be read twice; give - and pipe it in: ... < {path}")


def _spooled() -> Source:
    """All of stdin in a temporary file, so that it can be read twice and shows its size; gone at exit."""
    handle, name = tempfile.mkstemp(prefix="headstart-stdin-", suffix=".txt")
    path, owner = Path(name), os.getpid()
    atexit.register(lambda: path.unlink(missing_ok=True) if os.getpid() == owner else None)
    try:
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    except OSError as problem:
        path.unlink(missing_ok=True)
        raise DataError(
            f"stdin: can't be kept in {path.parent}: {problem.strerror}; set TMPDIR to a folder with room"
        ) from None
    return Source(path, "stdin", ".txt")

"""Vectors on disk, in one of three forms, whole or not at all."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from uuid import uuid4

import numpy as np

from headstart.errors import ConfigError, RunError
from headstart.recipes.vectors.source import Of, Use, Vectors


class Writer(Protocol):
    """Takes block after block; `close` makes the file complete."""

    def add(self, vectors: Vectors) -> None: ...

    def close(self) -> None: ...


def written_to(out: Path, of: Of) -> tuple[Path, ...]:
    """A .npy of words has a list beside it that says which word each row is."""
    return (out.with_suffix(".jsonl"), out) if out.suffix == ".npy" and of == "words" else (out,)


def check_out(out: Path, of: Of, inputs: Sequence[Path] = (), *, force: bool) -> None:
    """Asked before any work is done. What is read, the `inputs` or a table in one of them, is never replaced."""
    if out.suffix not in (".npy", ".parquet", ".jsonl"):
        raise ConfigError(f"{out}: vectors are written as .npy, .parquet or .jsonl; type --out {out.stem}.npy")
    if out.suffix == ".parquet":
        _pyarrow(out)
    if not out.parent.is_dir():
        raise ConfigError(f"{out}: there is no folder {out.parent}; type mkdir -p '{out.parent}' first")
    for path in written_to(out, of):
        if path.is_dir():
            raise RunError(f"{path}: is a folder, but a file is to be written there")
        if path.exists() and any(_holds(each, path) for each in inputs):
            beside = f", and {out} has that list of words beside it" if path != out else ""
            raise RunError(f"{path}: the texts are read from it{beside}. Choose another name: --out {_free(out)}")
        if path.exists() and not force:
            raise RunError(f"{path}: is already there. Choose another --out, or add --force to replace it")


def _holds(given: Path, path: Path) -> bool:
    if given.is_dir():
        return path.suffix != ".npy" and path.resolve().is_relative_to(given.resolve())
    return given.exists() and given.samefile(path)


def _free(out: Path) -> Path:
    return out.with_name(f"{out.stem}-vectors{out.suffix}")


@contextmanager
def vector_file(out: Path, of: Of, width: int) -> Iterator[Writer]:
    """Files are written aside and take their names when all went well."""
    paths = written_to(out, of)
    aside = [path.with_name(f".{path.stem}.{uuid4().hex}{path.suffix}") for path in paths]
    try:
        with ExitStack() as closing:
            files = [closing.enter_context(path.open("wb")) for path in aside]
            writer = _writer(out.suffix, files, of, width, closing)
            yield writer
            writer.close()
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for old, new in zip(aside, paths):
            old.replace(new)
    except OSError as problem:
        raise RunError(f"{out}: cannot be written: {problem.strerror or problem}; nothing was changed") from None
    finally:
        for path in aside:
            path.unlink(missing_ok=True)


def described(use: Use, of: Of) -> dict[str, Any]:
    """What a vector stands for; the text or word comes as it was written."""
    if of == "texts":
        return {"number": use.number, "text": use.words}
    return {"number": use.number, "word": use.words, "start": use.start, "end": use.end}


def with_vector(use: Use, vector: np.ndarray, of: Of) -> dict[str, Any]:
    """Nine digits give back the same float32."""
    return {**described(use, of), "vector": [float(f"{value:.9g}") for value in vector.tolist()]}


def _writer(form: str, files: Sequence[BinaryIO], of: Of, width: int, closing: ExitStack) -> Writer:
    if form == ".npy":
        return _Npy(files[-1], width, _Lines(files[0], of, bare=True) if len(files) > 1 else None)
    return _Parquet(files[0], of, width, closing) if form == ".parquet" else _Lines(files[0], of)


class _Lines:
    """One JSON object a line; `bare` leaves the vectors out."""

    def __init__(self, file: BinaryIO, of: Of, *, bare: bool = False):
        self.file, self.of, self.bare = file, of, bare

    def add(self, vectors: Vectors) -> None:
        for use, vector in zip(vectors.uses, vectors.table):
            value = described(use, self.of) if self.bare else with_vector(use, vector, self.of)
            self.file.write(json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n")

    def close(self) -> None:
        pass


class _Npy:
    """numpy leaves room in the header for more rows, so the number is filled in at the end."""

    def __init__(self, file: BinaryIO, width: int, names: _Lines | None):
        self.file, self.width, self.names, self.rows = file, width, names, 0
        self._write_header()

    def add(self, vectors: Vectors) -> None:
        self.file.write(np.ascontiguousarray(vectors.table, "<f4").data)
        self.rows += len(vectors.table)
        if self.names is not None:
            self.names.add(vectors)

    def close(self) -> None:
        end = self.file.tell()
        self.file.seek(0)
        self._write_header()
        assert self.file.tell() == end - self.rows * self.width * 4, "the header has grown into the vectors"

    def _write_header(self) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": (self.rows, self.width)}
        np.lib.format.write_array_header_1_0(self.file, header)


class _Parquet:
    """A row group for each block; a vector is a list of fixed size. Closed before its file, even after a mistake."""

    def __init__(self, file: BinaryIO, of: Of, width: int, closing: ExitStack):
        self.arrow, parquet = _pyarrow(Path(file.name))
        arrow, self.of, self.width = self.arrow, of, width
        names = [("text", arrow.string())] if of == "texts" else [("word", arrow.string())]
        spans = [] if of == "texts" else [("start", arrow.int64()), ("end", arrow.int64())]
        vector = ("vector", arrow.list_(arrow.float32(), width))
        self.schema = arrow.schema([("number", arrow.int64()), *names, *spans, vector])
        self.parquet = closing.enter_context(parquet.ParquetWriter(file, self.schema))

    def add(self, vectors: Vectors) -> None:
        values = self.arrow.array(np.ascontiguousarray(vectors.table, np.float32).ravel())
        named = [described(use, self.of) for use in vectors.uses]
        columns = [[row[name] for row in named] for name in self.schema.names[:-1]]
        lists = self.arrow.FixedSizeListArray.from_arrays(values, self.width)
        self.parquet.write_table(self.arrow.table([*columns, lists], schema=self.schema))

    def close(self) -> None:
        self.parquet.close()


def _pyarrow(out: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(f"{out}: writing .parquet needs pyarrow: pip install 'headstart[parquet]'") from None
    return pyarrow, pyarrow.parquet

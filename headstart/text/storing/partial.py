"""A token store being written, fit to go on from wherever it was killed."""

import io
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from headstart.config import build
from headstart.errors import ConfigError, DataError
from headstart.text.store import Origin, PartCard, file_names
from headstart.text.storing.chunks import Chunk

PROGRESS = "progress.json"
SAVED_EVERY = 64  # chunks
EMPTY = PartCard()


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is safely on disk: the first `taken` documents of this origin, `skipped` of them without an id."""

    origin: Origin
    taken: int = 0
    skipped: int = 0
    train: PartCard = EMPTY
    valid: PartCard = EMPTY


class Partial:
    """Files that grow by a chunk at a time. A kill loses at most what came after the last `save`."""

    def __init__(self, folder: Path, origin: Origin, oov: int):
        self.folder = folder
        progress = _found(folder, origin)
        if progress is None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            progress = Progress(origin=origin)
        self.origin, self.taken, self.skipped = origin, progress.taken, progress.skipped
        dtype = np.dtype(origin.dtype).newbyteorder("<")
        self.train = Part(folder, "train", progress.train, dtype, oov)
        self.valid = Part(folder, "valid", progress.valid, dtype, oov)
        self.unsaved = 0

    def add(self, chunk: Chunk) -> None:
        self.taken += len(chunk.lengths)
        self.skipped += int((chunk.lengths == 0).sum())
        self.train.add(chunk, ~chunk.held)
        self.valid.add(chunk, chunk.held)
        self.unsaved += 1
        if self.unsaved == SAVED_EVERY:
            self.save()

    def save(self) -> None:
        """First the ids reach the disk, then the word that they are there."""
        self.train.flush()
        self.valid.flush()
        progress = Progress(
            origin=self.origin,
            taken=self.taken,
            skipped=self.skipped,
            train=self.train.card,
            valid=self.valid.card,
        )
        aside = self.folder / f"{PROGRESS}.new"
        aside.write_text(json.dumps(asdict(progress)), "utf-8")
        aside.replace(self.folder / PROGRESS)
        self.unsaved = 0

    def finish(self) -> None:
        """After the last chunk."""
        self.train.finish()
        self.valid.finish()

    def __enter__(self) -> "Partial":
        return self

    def __exit__(self, *error: object) -> None:
        for file in (*self.train.files, *self.valid.files):
            with suppress(OSError):  # a full disk has been told of already
                file.close()


class Part:
    """The growing files of the train or the valid part."""

    def __init__(self, folder: Path, name: str, card: PartCard, dtype: np.dtype, oov: int):
        self.card, self.oov = card, oov
        self.ids = _continued(folder / f"{name}.bin", card.count * dtype.itemsize)
        self.offsets = _continued(folder / f"{name}.offsets.npy", len(_header(0)) + 8 * card.documents)
        self.files = (self.ids, self.offsets)

    def add(self, chunk: Chunk, mine: np.ndarray) -> None:
        """Take over the documents of `chunk` that are `mine`."""
        mine = mine & (chunk.lengths > 0)
        ids = chunk.ids[np.repeat(mine, chunk.lengths)]
        lengths = chunk.lengths[mine]
        self.ids.write(ids.data)
        self.offsets.write((self.card.count + np.cumsum(lengths) - lengths).astype("<i8").data)
        self.card = PartCard(
            count=self.card.count + len(ids),
            documents=self.card.documents + len(lengths),
            bytes=self.card.bytes + int(chunk.bytes[mine].sum()),
            unknown=self.card.unknown + int((ids == self.oov).sum()),
        )

    def flush(self) -> None:
        for file in self.files:
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        self.offsets.seek(0)
        self.offsets.write(_header(self.card.documents))
        for file in self.files:
            file.close()


def refuse_strangers(folder: Path) -> None:
    """A folder that will be emptied must hold nothing but what we wrote."""
    ours = {*file_names(), PROGRESS, f"{PROGRESS}.new"}
    if folder.exists() and any(path.name not in ours for path in folder.iterdir()):
        raise DataError(f"{folder} is where tokens are built, but it holds something else; move that away")


def _found(folder: Path, origin: Origin) -> Progress | None:
    """What an earlier run of the same origin left behind, if its files are all there."""
    try:
        progress = build(Progress, json.loads((folder / PROGRESS).read_text("utf-8")), PROGRESS)
        sizes = [(folder / name).stat().st_size for name in file_names()]
    except (OSError, ValueError, ConfigError):
        return None
    width = np.dtype(origin.dtype).itemsize
    parts = (progress.train, progress.valid)
    wanted = [size for part in parts for size in (part.count * width, len(_header(0)) + 8 * part.documents)]
    whole = all(size >= least for size, least in zip(sizes, wanted))
    return progress if whole and progress.origin == origin else None


def _continued(path: Path, size: int) -> io.BufferedRandom:
    """The file, cut to the size that is known to be good."""
    path.touch()
    file = path.open("r+b")
    file.truncate(size)
    file.seek(size)
    return file


def _header(documents: int) -> bytes:
    """The start of an .npy file; NumPy leaves room in it, so that its length does not depend on the count."""
    file = io.BytesIO()
    shape = {"descr": "<i8", "fortran_order": False, "shape": (documents,)}
    np.lib.format.write_array_header_1_0(file, shape)
    return file.getvalue()

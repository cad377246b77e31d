"""The ids of a corpus on disk, read by memory map."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headstart.config import build
from headstart.errors import ConfigError, DataError
from headstart.whole import sha256

FORMAT = 1
CARD = "card.json"


@dataclass(frozen=True, kw_only=True)
class PartCard:
    """What one part holds; `bytes` is the UTF-8 length of its texts, for bits per byte."""

    count: int = 0
    documents: int = 0
    bytes: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        if min(self.count, self.documents, self.bytes, self.unknown) < 0:
            raise ValueError("counts cannot be negative")


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a token store is made from: the same origin, the same bytes."""

    tokenizer: str
    corpus: str
    holdout: float
    dtype: str
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.dtype not in ("uint16", "uint32"):
            raise ValueError(f"dtype is {self.dtype!r}, but only uint16 and uint32 are stored")


@dataclass(frozen=True, kw_only=True)
class Card(Origin):
    """What a token store holds; `skipped` documents were empty, `files` gives the SHA-256 of each file."""

    skipped: int
    train: PartCard
    valid: PartCard
    files: dict[str, Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.files, dict):
            raise ValueError("files must give the hash of each file")


@dataclass(frozen=True, eq=False)
class Tokens:
    """Documents end to end, each `<sos> tokens <eos>`. `offsets` says where each document starts."""

    ids: np.ndarray
    offsets: np.ndarray
    bytes: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def documents(self) -> int:
        return len(self.offsets)

    def document(self, number: int) -> np.ndarray:
        """The ids of one document, `<sos>` and `<eos>` included."""
        if not 0 <= number < self.documents:
            raise IndexError(f"document {number} of {self.documents}")
        last = number + 1 == self.documents
        return self.ids[self.offsets[number] : len(self.ids) if last else self.offsets[number + 1]]


@dataclass(frozen=True, eq=False)
class Store:
    """A corpus as ids: the part that is learnt from, and the part held out to validate on."""

    folder: Path
    card: Card
    train: Tokens
    valid: Tokens


def open_store(folder: Path, *, verify: bool = False) -> Store:
    """Map the files after checking their sizes; `verify` reads them whole and checks their hashes too."""
    card = read_card(folder)
    train = _open_part(folder, "train", card.train, card.dtype)
    valid = _open_part(folder, "valid", card.valid, card.dtype)
    if verify:
        for name in file_names():
            if sha256(folder / name) != card.files.get(name):
                raise _damaged(folder / name, "its bytes are not those that were written")
    return Store(folder, card, train, valid)


def read_card(folder: Path) -> Card:
    path = folder / CARD
    try:
        table = json.loads(path.read_text("utf-8"))
        return build(Card, table if isinstance(table, dict) else {}, str(path))
    except FileNotFoundError:
        raise DataError(f"{folder}: no token store here ({CARD} is missing); encode the corpus first") from None
    except (ConfigError, ValueError) as problem:
        raise _damaged(path, str(problem)) from None


def file_names() -> list[str]:
    return [f"{part}.{kind}" for part in ("train", "valid") for kind in ("bin", "offsets.npy")]


def _open_part(folder: Path, name: str, card: PartCard, dtype: str) -> Tokens:
    ids = _open_ids(folder / f"{name}.bin", card.count, np.dtype(dtype).newbyteorder("<"))
    offsets = _open_offsets(folder / f"{name}.offsets.npy", card)
    return Tokens(ids, offsets, card.bytes)


def _open_ids(path: Path, count: int, dtype: np.dtype) -> np.ndarray:
    size, wanted = _size(path), count * dtype.itemsize
    if size != wanted:
        raise _damaged(path, f"it has {size:,} bytes, but its card says {wanted:,}")
    return np.memmap(path, dtype, mode="r") if count else np.empty(0, dtype)


def _open_offsets(path: Path, card: PartCard) -> np.ndarray:
    _size(path)
    try:
        offsets: np.ndarray = np.load(path, mmap_mode="r" if card.documents else None, allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise _damaged(path, str(problem)) from None
    if offsets.dtype != np.int64 or offsets.shape != (card.documents,):
        raise _damaged(path, f"it does not hold the starts of {card.documents:,} documents")
    if card.documents and (offsets[0] != 0 or offsets[-1] >= card.count):
        raise _damaged(path, "its documents do not start inside the ids")
    return offsets


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        raise _damaged(path, "it is missing") from None


def _damaged(path: Path, why: str) -> DataError:
    return DataError(
        f"{path}: the token store is damaged: {why}. Delete the folder {path.parent} and run the command again"
    )

"""What a file of text is made of: documents, labelled rows, pairs."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read. The limits stop a decompression bomb, not a large corpus."""

    text_column: str = "text"
    label_column: str = "label"
    source_column: str = "source"  # of pairs
    target_column: str = "target"
    documents: Literal["auto", "lines", "blocks"] = "auto"
    encoding: str = "utf-8"
    largest_ratio: int = 200
    largest_gigabytes: float = 100.0

    def __post_init__(self) -> None:
        if self.largest_ratio < 1 or self.largest_gigabytes <= 0:
            raise ValueError("largest_ratio and largest_gigabytes must be positive")


@dataclass(frozen=True, slots=True)
class Document:
    """One text and where it stands. `pieces` is the raw line of a `.spm` file, already cut by SentencePiece."""

    text: str
    source: str
    line: int
    pieces: str = ""


@dataclass(frozen=True, slots=True)
class Row(Document):
    """A document with its label; `text_b` is the second text of a sentence pair."""

    label: str = ""
    text_b: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and its translation."""

    source_text: str
    target_text: str
    source: str
    line: int

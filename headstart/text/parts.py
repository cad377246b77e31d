"""What the guard keeps of a corpus or a set of rows: numbers for each text, never the texts.

About 190 bytes a document (160 of them the sketch), whatever its length.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headstart.text.fingerprints import bare_words, key, normalise
from headstart.text.nearness import SKETCH, long_enough, sketches
from headstart.text.records import Document, Row

if TYPE_CHECKING:
    from headstart.text.tokenizer import Tokenizer

_BATCH = 1 << 17  # characters sketched at once


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One of corpus, train, valid and test; all columns but the last two have an entry per row.

    Texts that are equal after normalisation share a `key`; `first` is the row where such a text first stands.
    Only first rows are sketched, and no text too short to be near another: `sketched` says which rows these are.
    """

    name: str
    source_names: tuple[str, ...]
    label_names: tuple[str, ...]
    unknown: int
    sources: np.ndarray
    lines: np.ndarray
    keys: np.ndarray
    first: np.ndarray
    labels: np.ndarray
    characters: np.ndarray
    words: np.ndarray
    tokens: np.ndarray
    sketched: np.ndarray
    sketches: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.keys)

    @property
    def empty(self) -> np.ndarray:
        """Rows without a single visible character; they are counted apart and never called duplicates."""
        return self.words == 0

    def place(self, row: int) -> tuple[str, int]:
        """File and line of a row."""
        return self.source_names[self.sources[row]], int(self.lines[row])

    def label(self, row: int) -> str:
        return self.label_names[self.labels[row]]


def scan(name: str, documents: Iterable[Document], tokenizer: "Tokenizer | None" = None) -> Part:
    """Read each document once and forget it; `tokens` and `unknown` are filled when a tokenizer is given."""
    sheet = _Sheet(tokenizer)
    for document in documents:
        sheet.add(document)
    return sheet.part(name)


def full_text(document: Document) -> str:
    """A sentence pair counts as one text."""
    if isinstance(document, Row) and document.text_b:
        return f"{document.text}\n{document.text_b}"
    return document.text


class _Sheet:
    """Columns that grow."""

    def __init__(self, tokenizer: "Tokenizer | None") -> None:
        self.tokenizer = tokenizer
        self.unknown = 0
        self.source_numbers: dict[str, int] = {}
        self.label_numbers: dict[str, int] = {}
        self.keys = array("Q")
        self.sources, self.lines, self.labels = array("I"), array("I"), array("I")
        self.characters, self.words, self.tokens = array("I"), array("I"), array("I")
        self.sketched, self.sketches = array("I"), bytearray()
        self.waiting: list[str] = []
        self.waiting_characters = 0

    def add(self, document: Document) -> None:
        text = full_text(document)
        normalised = normalise(text)
        label = document.label if isinstance(document, Row) else ""
        words = bare_words(normalised)
        if long_enough(words):
            self.sketched.append(len(self.keys))
            self._sketch_later(words)
        self.keys.append(key(normalised))
        self.sources.append(self.source_numbers.setdefault(document.source, len(self.source_numbers)))
        self.lines.append(document.line)
        self.labels.append(self.label_numbers.setdefault(label, len(self.label_numbers)))
        self.characters.append(len(text))
        self.words.append(normalised.count(" ") + 1 if normalised else 0)
        if self.tokenizer is not None:
            ids = self.tokenizer.encode_document(document)
            if text is not document.text:
                ids = ids + self.tokenizer.encode(text[len(document.text) + 1 :])
            self.tokens.append(len(ids))
            self.unknown += ids.count(self.tokenizer.oov)

    def _sketch_later(self, words: str) -> None:
        self.waiting.append(words)
        self.waiting_characters += len(words)
        if self.waiting_characters >= _BATCH:
            self._sketch_now()

    def _sketch_now(self) -> None:
        self.sketches += sketches(self.waiting).tobytes()
        self.waiting, self.waiting_characters = [], 0

    def part(self, name: str) -> Part:
        self._sketch_now()
        keys = np.frombuffer(self.keys, dtype=np.uint64)
        _, where, which = np.unique(keys, return_index=True, return_inverse=True)
        first = where[which].astype(np.uint32)
        sketched = np.frombuffer(self.sketched, dtype=np.uint32)
        sketch_rows = np.frombuffer(self.sketches, dtype=np.uint8).reshape(-1, SKETCH)
        new = first[sketched] == sketched
        if not new.all():
            sketched, sketch_rows = sketched[new], sketch_rows[new]
        return Part(
            name=name,
            source_names=tuple(self.source_numbers),
            label_names=tuple(self.label_numbers),
            unknown=self.unknown,
            sources=np.frombuffer(self.sources, dtype=np.uint32),
            lines=np.frombuffer(self.lines, dtype=np.uint32),
            keys=keys,
            first=first,
            labels=np.frombuffer(self.labels, dtype=np.uint32),
            characters=np.frombuffer(self.characters, dtype=np.uint32),
            words=np.frombuffer(self.words, dtype=np.uint32),
            tokens=np.frombuffer(self.tokens, dtype=np.uint32),
            sketched=sketched,
            sketches=sketch_rows,
        )

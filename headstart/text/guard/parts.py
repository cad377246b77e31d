"""What the guard keeps of a corpus or a set of rows: numbers for each text, never the texts.

About 200 bytes a document (160 of them the sketch), and 12 for each longer line of a document that has several.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headstart.text.guard.fingerprints import bare_words, key, normalise
from headstart.text.guard.nearness import SKETCH, long_enough, sketches
from headstart.text.records import Document, Row

if TYPE_CHECKING:
    from headstart.text.tokenizer import Tokenizer

_BATCH = 1 << 17  # characters looked at together


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One of corpus, train, valid and test; all columns but the last four have an entry per row.

    Texts that are equal after normalisation share a key; `first` is the row where such a text first stands.
    Only first rows are sketched, and no text too short to be near another: `sketched` says which rows these are.
    A text of several lines also has the keys of its longer lines, for a corpus may hold a test text as one line of
    a block: `line_rows` says to which row each belongs.
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
    line_keys: np.ndarray
    line_rows: np.ndarray

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
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= _BATCH:
            sheet.add(batch)
            batch, characters = [], 0
    sheet.add(batch)
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
        self.line_keys, self.line_rows = array("Q"), array("I")

    def add(self, documents: Sequence[Document]) -> None:
        texts = [full_text(document) for document in documents]
        normalised = [normalise(text) for text in texts]
        words = [bare_words(text) for text in normalised]
        self.sketched.extend(row for row, text in enumerate(words, len(self.keys)) if long_enough(text))
        self.sketches += sketches([text for text in words if long_enough(text)]).tobytes()
        self._add_lines(texts)
        self.keys.extend(map(key, normalised))
        self.characters.extend(map(len, texts))
        self.words.extend(text.count(" ") + 1 if text else 0 for text in normalised)
        self.lines.extend(document.line for document in documents)
        for document in documents:
            label = document.label if isinstance(document, Row) else ""
            self.sources.append(self.source_numbers.setdefault(document.source, len(self.source_numbers)))
            self.labels.append(self.label_numbers.setdefault(label, len(self.label_numbers)))
        if self.tokenizer is not None:
            self._count_tokens(self.tokenizer, documents)

    def _add_lines(self, texts: Sequence[str]) -> None:
        for row, text in enumerate(texts, len(self.keys)):
            if "\n" in text:
                lines = [line for line in map(normalise, text.split("\n")) if long_enough(line)]
                self.line_keys.extend(map(key, lines))
                self.line_rows.extend([row] * len(lines))

    def _count_tokens(self, tokenizer: "Tokenizer", documents: Sequence[Document]) -> None:
        ids = tokenizer.encode_documents(documents)
        others = tokenizer.encode_batch(
            [document.text_b if isinstance(document, Row) else "" for document in documents]
        )
        self.tokens.extend(len(first) + len(second) for first, second in zip(ids, others))
        self.unknown += sum(one.count(tokenizer.oov) for one in (*ids, *others))

    def part(self, name: str) -> Part:
        keys = np.frombuffer(self.keys, dtype=np.uint64)
        _, where, which = np.unique(keys, return_index=True, return_inverse=True)
        first = where[which].astype(np.uint32)
        sketched = np.frombuffer(self.sketched, dtype=np.uint32)
        sketch_rows = np.frombuffer(self.sketches, dtype=np.uint8).reshape(-1, SKETCH)
        new = first[sketched] == sketched
        if not new.all():
            sketched, sketch_rows = sketched[new], sketch_rows[new]
        plain = ("sources", "lines", "labels", "characters", "words", "tokens", "line_rows")
        return Part(
            name=name,
            source_names=tuple(self.source_numbers),
            label_names=tuple(self.label_numbers),
            unknown=self.unknown,
            keys=keys,
            first=first,
            sketched=sketched,
            sketches=sketch_rows,
            line_keys=np.frombuffer(self.line_keys, dtype=np.uint64),
            **{column: np.frombuffer(getattr(self, column), dtype=np.uint32) for column in plain},
        )

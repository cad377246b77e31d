"""One vector for each use of a word, in its context."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from headstart.checkpoint import Saved
from headstart.data.batch import padded
from headstart.data.buckets import Buckets
from headstart.data.framing import NOTHING
from headstart.model.masks import real_positions
from headstart.model.models import Pooling
from headstart.recipes.predict import EVALUATION, frame
from headstart.recipes.vectors.source import Use, Vectors, body_of
from headstart.text.records import Row
from headstart.text.storing.long_texts import cut
from headstart.text.words import words

TOKENS = 1 << 15  # in a block of windows


@dataclass(frozen=True, eq=False)
class _Window:
    """Some tokens of a text, framed, and the words that are read there with their (first, last + 1) places in it."""

    ids: np.ndarray
    uses: list[Use]
    places: list[tuple[int, int]]


class WordVectors:
    """A text that is longer than the context is read in windows that overlap by half: no word is lost, and each is
    read where it has the most around it. `wanted` chooses among the words; windows without any are not read.
    Each use comes with `around` characters on either side of it."""

    def __init__(
        self,
        saved: Saved,
        rows: Iterable[Row],
        pooling: Pooling,
        *,
        wanted: Callable[[str], bool] = lambda word: True,
        around: int = 0,
    ):
        self.saved, self.rows, self.pooling, self.wanted, self.around = saved, rows, pooling, wanted, around
        self.body, self.tokenizer, self.causal = body_of(saved), saved.tokenizer, saved.card.causal
        self.frame = frame(self.tokenizer, self.causal)
        self.texts = self.long = 0

    def blocks(self) -> Iterator[Vectors]:
        waiting: list[_Window] = []
        tokens = 0
        for window in self._windows():
            waiting.append(window)
            tokens += len(window.ids)
            if tokens >= TOKENS:
                yield self._read(waiting)
                waiting, tokens = [], 0
        if waiting:
            yield self._read(waiting)

    def _windows(self) -> Iterator[_Window]:
        for row in self.rows:
            offset, several = 0, False
            for part in cut(row.text, self.tokenizer):
                offset = row.text.index(part, offset)
                laid = list(self._lay(self.texts, part, offset))
                several |= len(laid) > 1 or offset > 0
                offset += len(part)
                yield from (window for window in laid if window.uses)
            self.texts += 1
            self.long += several

    def _lay(self, number: int, text: str, offset: int) -> Iterator[_Window]:
        """`text` stands at `offset` of its document."""
        ids, spans = self.tokenizer.encode(text), np.array(self.tokenizer.spans(text)).reshape(-1, 2)
        found = [(start, end) for start, end in words(text) if self.wanted(text[start:end])]
        starts, ends = np.array(found, np.int64).reshape(-1, 2).T
        first = np.searchsorted(spans[:, 1], starts, side="right")
        last = np.searchsorted(spans[:, 0], ends, side="left")
        room = self.saved.card.shape.context - 1 - (self.frame.closing != NOTHING)
        for begin, own, own_end in windows(len(ids), room, causal=self.causal):
            mine = np.flatnonzero((first >= own) & (first < own_end) & (first < last))
            inside = np.stack([first[mine], np.minimum(last[mine], begin + room)], axis=1) - begin + 1
            uses = [self._use(number, text, *found[i], offset) for i in mine]
            laid = self.frame.lay(ids[begin : begin + room], None, self.saved.card.shape.context, "start")
            yield _Window(laid.ids, uses, [(int(a), int(b)) for a, b in inside])

    def _use(self, number: int, text: str, start: int, end: int, offset: int) -> Use:
        before, after = text[max(0, start - self.around) : start], text[end : end + self.around]
        return Use(number, text[start:end], start + offset, end + offset, before, after)

    def _read(self, block: list[_Window]) -> Vectors:
        lengths = np.array([len(window.ids) for window in block])
        tables: list[np.ndarray] = [np.empty(0)] * len(block)
        for rows in Buckets(lengths, EVALUATION, shuffle=False, seed=0).batches(0):
            hidden = self._hidden([block[row].ids for row in rows])
            for row, vectors in zip(rows, hidden):
                tables[row] = pooled(vectors, block[row].places, self.pooling)
        return Vectors(np.concatenate(tables), [use for window in block for use in window.uses])

    @torch.inference_mode()
    def _hidden(self, rows: list[np.ndarray]) -> np.ndarray:
        """Right padding lies in a causal body's future, so it needs no mask there. -> (B, T, D)"""
        device = self.body.embedding.weight.device
        ids = torch.from_numpy(padded(rows, self.tokenizer.pad)).to(device)
        real = real_positions(torch.tensor([len(row) for row in rows], device=device), ids.size(1))
        return np.asarray(self.body(ids, real=None if self.causal else real).float().cpu().numpy())


def windows(length: int, room: int, *, causal: bool) -> Iterator[tuple[int, int, int]]:
    """Where each window of `room` tokens begins, and which tokens (from, to) are its own: each token is one's own.

    What a window shares with the one before it is context: all of it on the left of its own tokens where the body
    is causal, else half of it on either side.
    """
    overlap = room // 2
    lead = overlap if causal else overlap // 2
    begins = list(range(0, max(1, length - overlap), room - overlap))
    for begin, after in zip(begins, [*begins[1:], -1]):
        yield begin, begin + lead if begin else 0, after + lead if after >= 0 else length


def pooled(vectors: np.ndarray, places: list[tuple[int, int]], pooling: Pooling) -> np.ndarray:
    """The mean or the last one of the tokens of each word. (T, D) -> (words, D)"""
    bounds = np.array(places)
    if pooling == "last":
        return np.asarray(vectors[bounds[:, 1] - 1])
    sums = np.cumsum(np.vstack([np.zeros_like(vectors[:1]), vectors]), axis=0, dtype=np.float64)
    counts = (bounds[:, 1] - bounds[:, 0])[:, None]
    return np.asarray((sums[bounds[:, 1]] - sums[bounds[:, 0]]) / counts).astype(np.float32)

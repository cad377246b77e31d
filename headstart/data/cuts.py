"""A stream of documents cut into windows of one length: every token once an epoch, and the rest kept."""

from dataclasses import dataclass

import numpy as np

from headstart.data.chance import Purpose, chance, shuffled
from headstart.errors import DataError
from headstart.text.store import Tokens


@dataclass(frozen=True, eq=False)
class Window:
    """Some rows of tokens, (B, T) each, padded on the right where the stream did not suffice.

    `real` is False at padding, `following` is the token that comes next in the document, and `last` is True
    where none does. `documents` numbers the documents of a row from 0, with -1 at padding; `positions` count
    from the start of the document or of the row, whichever is later.
    """

    numbers: np.ndarray  # (B), the window's place in the stream
    ids: np.ndarray
    following: np.ndarray
    last: np.ndarray
    real: np.ndarray
    documents: np.ndarray
    positions: np.ndarray


class Cuts:
    """Windows in the shuffled order of an epoch.

    The stream is a ring, since after its last `<eos>` its first `<sos>` may as well come. Each epoch but the
    first starts at another place on it, so that the cuts differ.
    """

    def __init__(self, tokens: Tokens, length: int, rows: int, seed: int, *, across: bool = False):
        if not len(tokens):
            raise DataError("there are no tokens to learn from: the corpus, or its held-out part, is empty")
        self.tokens, self.length, self.rows, self.seed, self.across = tokens, length, rows, seed, across
        self.windows = -(-len(tokens) // length)
        self.note = ""
        if len(tokens) < length:
            self.note = f"only {len(tokens):,} tokens for a window of {length:,}: the rest of it is padding"

    def steps(self, epoch: int) -> int:
        return -(-self.windows // self.rows)

    def take(self, epoch: int, position: int, pad: int) -> Window:
        """The rows of one batch; the last batch of an epoch may have fewer."""
        if not 0 <= position < self.steps(epoch):
            raise IndexError(f"batch {position} of {self.steps(epoch)}")
        start = position * self.rows
        numbers = shuffled(self.windows, self.seed, epoch)[start : start + self.rows]
        steps = numbers[:, None] * self.length + np.arange(self.length)  # (B, T), along the ring
        real = steps < len(self.tokens)
        places = (steps + self._phase(epoch)) % len(self.tokens)
        starts = self._starts(places) & real
        after = (places + 1) % len(self.tokens)
        return Window(
            numbers=numbers,
            ids=np.where(real, self.tokens.ids[places], pad),
            following=np.where(real, self.tokens.ids[after], pad),
            last=self._starts(after),
            real=real,
            **self._layout(starts, real),
        )

    def _phase(self, epoch: int) -> int:
        if epoch == 0:
            return 0
        return int(chance(Purpose.PHASE, self.seed, epoch).integers(len(self.tokens)))

    def _starts(self, places: np.ndarray) -> np.ndarray:
        """True where a document starts."""
        offsets = self.tokens.offsets
        found = np.searchsorted(offsets, places, side="right") - 1
        return offsets[found] == places

    def _layout(self, starts: np.ndarray, real: np.ndarray) -> dict[str, np.ndarray]:
        steps = np.broadcast_to(np.arange(starts.shape[1]), starts.shape)
        if self.across:
            return {"documents": np.where(real, 0, -1), "positions": steps}
        begins = starts | (~real & np.roll(real, 1, axis=1))  # padding counts as a document of its own
        begins[:, 0] = True
        documents = np.where(real, np.cumsum(begins, axis=1) - 1, -1)
        return {"documents": documents, "positions": steps - np.maximum.accumulate(np.where(begins, steps, 0), axis=1)}

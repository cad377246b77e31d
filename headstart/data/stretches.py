"""Documents in stretches of about equal length, numbered through the whole corpus."""

import numpy as np

from headstart.text.store import Tokens


class Stretches:
    """Each document has a stretch for every `length` of it, at least one; one of less than two tokens has none."""

    def __init__(self, tokens: Tokens, length: int):
        self.tokens = tokens
        sizes = self.sizes()
        counts = np.where(sizes < 2, 0, np.maximum(1, np.round(sizes / length))).astype(np.int64)
        self.first = np.concatenate([[0], np.cumsum(counts)])  # the number of each document's first stretch

    def __len__(self) -> int:
        return int(self.first[-1])

    def sizes(self) -> np.ndarray:
        """The tokens of each document, without <sos> and <eos>."""
        return np.diff(self.tokens.offsets, append=len(self.tokens)) - 2

    def document(self, number: int) -> int:
        return int(np.searchsorted(self.first, number, side="right")) - 1

    def of(self, number: int) -> tuple[np.ndarray, float, float]:
        """The whole document of a stretch, where in it the stretch begins, and its length."""
        document = self.document(number)
        ids = self.tokens.document(document)[1:-1]
        length = len(ids) / (self.first[document + 1] - self.first[document])
        return ids, (number - self.first[document]) * length, length

"""Another document's text in the form of a given one, so that only its content tells them apart."""

import numpy as np

from headstart.data.stretches import Stretches

TRIES = 16  # other documents looked at for one text
COMPANY = 200  # documents of like size to choose among: so many, or a tenth of all


class Strangers:
    """Texts of other documents of about the same size. A text is looked for in `reach` tokens of a document."""

    def __init__(self, stretches: Stretches, ends_sentence: np.ndarray, reach: int):
        self.stretches, self.ends_sentence, self.reach = stretches, ends_sentence, reach
        sizes, used = stretches.sizes(), np.flatnonzero(np.diff(stretches.first)).astype(np.int32)
        self.by_size = used[np.argsort(sizes[used], kind="stable")]
        self.rank = np.zeros(len(sizes), np.int32)
        self.rank[self.by_size] = np.arange(len(used))
        self.company = min(len(used), max(COMPANY, len(used) // 10))

    def like(
        self, text: np.ndarray, begins: bool, number: int, draw: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The start of `text`, and a text as long from elsewhere; both begin a sentence if it `begins` one.

        Both end a sentence, or neither does. As much of `text` is kept as some stranger can match: its whole, or at
        least half of it in whole sentences; else a part that ends amid one. The stranger is empty if there is none.
        """
        flags, others = self.ends_sentence[text], self._elsewhere(number, draw)
        lengths = np.arange(len(text), 0, -1)
        natural = flags[lengths - 1] & (2 * lengths >= len(text)) | (lengths == len(text))
        for wanted in (lengths[natural], lengths[~flags[lengths - 1]]):
            for other in others:
                found = self._find(other, begins, flags, wanted, draw)
                if len(found):
                    return text[: len(found)], found
        return text, text[:0]

    def _find(
        self, other: int, begins: bool, flags: np.ndarray, lengths: np.ndarray, draw: np.random.Generator
    ) -> np.ndarray:
        """A text in the stretch `other` with the first of these lengths that it has; never a document's beginning."""
        document, start, _ = self.stretches.of(other)
        ids = np.asarray(document[int(start) : int(start) + self.reach])
        own = self.ends_sentence[ids]
        before = np.flatnonzero(own[:-1] == begins)  # where the token before a text may stand
        for length in lengths[lengths < len(ids) - before[0]] if len(before) else ():
            places = before[before < len(ids) - length]
            places = places[own[places + length] == flags[length - 1]]
            if len(places):
                start = places[draw.integers(len(places))] + 1
                return ids[start : start + length]
        return ids[:0]

    def _elsewhere(self, number: int, draw: np.random.Generator) -> list[int]:
        """Stretches of other documents of like size; none if there is no other document."""
        if self.company < 2:
            return []
        own = int(self.rank[self.stretches.document(number)])
        low = int(np.clip(own - self.company // 2, 0, len(self.by_size) - self.company))
        ranks = low + draw.integers(self.company - 1, size=TRIES)
        documents = self.by_size[ranks + (ranks >= own)]
        first, end = self.stretches.first[documents], self.stretches.first[documents + 1]
        return draw.integers(first, end).tolist()

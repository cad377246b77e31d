"""Two texts in one row: does the second follow the first?"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headstart.data.batch import IGNORED, Batch, padded
from headstart.data.chance import Purpose, chance, shuffled
from headstart.data.hiding import USUAL, Hiding, Masking, with_a_target
from headstart.data.strangers import Strangers
from headstart.data.stretches import Stretches
from headstart.errors import DataError
from headstart.text.store import Tokens
from headstart.text.tokenizer import Tokenizer

NEAR = 0.25  # a cut may move by this share of its stretch to reach the end of a sentence
ONE_DOCUMENT = "one document only: no other text can stand for what follows, so the next sentence is not asked for"


@dataclass(frozen=True, eq=False)
class SentenceBatch(Batch):
    """`<cls> A <sep> B <sep>`, (B, T) each but `follows` (B): 1 where B is what came after A, else 0.

    `follows` is IGNORED where no other text could have stood in B's place: such a row has hidden tokens only.
    `documents` is 0, and -1 at padding; `segments` is 0 for A and 1 for B.
    """

    ids: Tensor
    targets: Tensor
    segments: Tensor
    positions: Tensor
    documents: Tensor
    follows: Tensor


class SentencePairs:
    """Every document is cut into A and B at the ends of sentences, once for each `length` of it.

    Half of the time another document's text stands for B, as long, beginning and ending as B does: the form of a
    pair is settled before the answer is drawn, so it tells nothing. Where no such text is found nothing is asked.
    `ends_sentence` has a flag per id.
    """

    def __init__(
        self,
        tokens: Tokens,
        length: int,
        rows: int,
        seed: int,
        tokenizer: Tokenizer,
        *,
        ends_sentence: np.ndarray,
        masking: Masking = USUAL,
        starts_word: np.ndarray | None = None,
    ):
        self.room, self.rows, self.seed = length - 3, rows, seed
        self.tokenizer, self.ends_sentence = tokenizer, ends_sentence
        self.hiding = Hiding(tokenizer, masking, starts_word)
        self.stretches = Stretches(tokens, self.room)
        self.strangers = Strangers(self.stretches, ends_sentence, reach=2 * self.room)
        self.pairs = len(self.stretches)
        if not self.pairs:
            raise DataError("no document has two tokens, so none can be cut in two sentences")
        self.note = ONE_DOCUMENT if self.strangers.company < 2 else ""

    def steps(self, epoch: int) -> int:
        return -(-self.pairs // self.rows)

    def batch(self, epoch: int, position: int) -> SentenceBatch:
        if not 0 <= position < self.steps(epoch):
            raise IndexError(f"batch {position} of {self.steps(epoch)}")
        start = position * self.rows
        numbers = shuffled(self.pairs, self.seed, epoch)[start : start + self.rows]
        return self._packed([self._pair(int(number), epoch) for number in numbers])

    def _pair(self, number: int, epoch: int) -> "_Pair":
        draw = chance(Purpose.PAIRING, self.seed, epoch, number)
        share = int(self.room * draw.uniform(0.25, 0.75))
        before, after = self._cut(number, draw)
        a, b = self._last_sentences(before, share), self._first_sentences(after, self.room - share)
        b, other = self.strangers.like(b, bool(self.ends_sentence[a[-1]]), number, draw)
        follows = int(draw.integers(2)) if len(other) else IGNORED
        cls, sep = self.tokenizer.cls, self.tokenizer.sep
        whole = np.concatenate([[cls], a, [sep], b if follows else other, [sep]]).astype(np.int64)
        seen, targets = self.hiding.hide(whole, draw)
        return _Pair(whole, seen, targets, second=len(a) + 2, follows=follows)

    def _cut(self, number: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A document before and after a cut: near the middle of its stretch, at a sentence end if one is near."""
        ids, start, stretch = self.stretches.of(number)
        middle = start + draw.uniform(0.5 - NEAR, 0.5 + NEAR) * stretch
        low, high = (int(np.clip(middle + way * NEAR * stretch, 1, len(ids) - 1)) for way in (-1, 1))
        ends = low + np.flatnonzero(self.ends_sentence[ids[low - 1 : high]])
        cut = ends[np.abs(ends - middle).argmin()] if len(ends) else int(np.clip(middle, 1, len(ids) - 1))
        return ids[:cut], ids[cut:]

    def _last_sentences(self, ids: np.ndarray, most: int) -> np.ndarray:
        """As many whole sentences from the end as fit; part of one if none does."""
        if len(ids) <= most:
            return ids
        ids = ids[len(ids) - most :]
        ends = np.flatnonzero(self.ends_sentence[ids[:-1]])
        return ids[ends[0] + 1 :] if len(ends) else ids

    def _first_sentences(self, ids: np.ndarray, most: int) -> np.ndarray:
        """As many whole sentences from the start as fit; part of one if none does."""
        if len(ids) <= most:
            return ids
        ends = np.flatnonzero(self.ends_sentence[ids[:most]])
        return ids[: ends[-1] + 1] if len(ends) else ids[:most]

    def _packed(self, pairs: list["_Pair"]) -> SentenceBatch:
        lengths = np.array([len(pair.whole) for pair in pairs])
        places = np.broadcast_to(np.arange(lengths.max()), (len(pairs), lengths.max()))
        real = places < lengths[:, None]
        second = real & (places >= np.array([pair.second for pair in pairs])[:, None])
        targets = padded([pair.targets for pair in pairs], IGNORED)
        return SentenceBatch(
            ids=torch.from_numpy(padded([pair.seen for pair in pairs], self.tokenizer.pad)),
            targets=torch.from_numpy(with_a_target(targets, padded([pair.whole for pair in pairs], IGNORED))),
            segments=torch.from_numpy(second.astype(np.int64)),
            positions=torch.from_numpy(places.astype(np.int64)),
            documents=torch.from_numpy(np.where(real, 0, -1).astype(np.int32)),
            follows=torch.tensor([pair.follows for pair in pairs]),
        )


@dataclass(frozen=True, eq=False)
class _Pair:
    """One row; B starts at `second`."""

    whole: np.ndarray
    seen: np.ndarray
    targets: np.ndarray
    second: int
    follows: int

"""Texts and their translations in batches of like length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headstart.data.batch import IGNORED, Batch, padded
from headstart.data.buckets import USUAL, Bucketing, Buckets
from headstart.data.framing import Ids
from headstart.errors import DataError
from headstart.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Which pairs are worth learning from: not too long, and neither side much longer than the other."""

    longest: int = 256
    largest_ratio: float = 4.0

    def __post_init__(self) -> None:
        if self.longest < 2 or self.largest_ratio < 1.0:
            raise ValueError("longest must be at least 2 and largest_ratio at least 1")


@dataclass(frozen=True, eq=False)
class PairBatch(Batch):
    """`source` (B, S) ends with `<eos>`; `given` `<sos> A B` and `targets` `A B <eos>` are (B, T).

    Padded on the right, targets with IGNORED. `rows` (B) are the numbers of the pairs.
    """

    source: Tensor
    source_lengths: Tensor
    given: Tensor
    targets: Tensor
    rows: Tensor

    def tokens(self) -> int:
        return self.source.numel() + self.given.numel()


ALL_BUT_ODD = Fitting()
MOST_GROWTH, MOST_PENALTY = 100.0, 10  # of a translation: how long it may be, how much length may count
Recut = Callable[[np.ndarray, int, int], tuple[Sequence[Ids], Sequence[Ids]]]  # of rows, epoch and position


class TranslationPairs:
    """Pairs under a token budget; those that do not fit are left out and counted.

    `recut` gives the ids of a batch anew where words are to be seen in other pieces each time; such a text may be up to
    `room` times as long as usual, and the budget is kept for that.
    """

    def __init__(
        self,
        sources: Sequence[Ids],
        targets: Sequence[Ids],
        *,
        tokenizer: Tokenizer,
        fitting: Fitting = ALL_BUT_ODD,
        bucketing: Bucketing = USUAL,
        shuffle: bool = True,
        seed: int = 0,
        recut: Recut | None = None,
        room: float = 1.0,
    ):
        assert len(sources) == len(targets), "a translation for each text"
        self.sources, self.targets, self.tokenizer, self.recut = sources, targets, tokenizer, recut
        sizes = np.array([[len(a), len(b)] for a, b in zip(sources, targets)]).reshape(-1, 2)
        empty, long = sizes.min(axis=1) == 0, sizes.max(axis=1) >= fitting.longest
        uneven = sizes.max(axis=1) + 1 > fitting.largest_ratio * (sizes.min(axis=1) + 1)
        self.rows = np.flatnonzero(~(empty | long | uneven))
        self.empty, self.long = int(empty.sum()), int((long & ~empty).sum())
        self.uneven = int((uneven & ~(empty | long)).sum())
        if not len(self.rows):
            advice = "; raise translator.longest or translator.largest_ratio" if self.long + self.uneven else ""
            raise DataError(f"no pair of texts to use: {self._left_out(fitting) or 'there was none'}{advice}")
        self.note = self._left_out(fitting) if len(self.rows) < len(sources) else ""
        self.lengths = sizes[self.rows] + 1
        self.buckets = Buckets(np.floor(self.lengths * room).astype(int), bucketing, shuffle=shuffle, seed=seed)

    @property
    def growth(self) -> float:
        """By which a source grows, at most, in its translation, ten tokens aside; at most MOST_GROWTH."""
        return min(MOST_GROWTH, float(((self.lengths[:, 1] - 10) / self.lengths[:, 0]).max()) + 0.01)

    def steps(self, epoch: int) -> int:
        return len(self.buckets.batches(epoch))

    def batch(self, epoch: int, position: int) -> PairBatch:
        chosen = self.buckets.batches(epoch)[position]
        rows, sos, eos, pad = self.rows[chosen], self.tokenizer.sos, self.tokenizer.eos, self.tokenizer.pad
        sources: Sequence[Ids] = [self.sources[row] for row in rows]
        targets: Sequence[Ids] = [self.targets[row] for row in rows]
        if self.recut is not None:
            sources, targets = self.recut(rows, epoch, position)
        return PairBatch(
            source=torch.from_numpy(padded([np.append(ids, eos) for ids in sources], pad)),
            source_lengths=torch.tensor([len(ids) + 1 for ids in sources]),
            given=torch.from_numpy(padded([np.append(sos, ids) for ids in targets], pad)),
            targets=torch.from_numpy(padded([np.append(ids, eos) for ids in targets], IGNORED)),
            rows=torch.tensor(rows),
        )

    def waste(self, epoch: int) -> float:
        """The share of computed positions that are padding."""
        return self.buckets.waste(epoch)

    def random_waste(self, rows: int) -> float:
        """The same for batches of `rows` pairs in random order."""
        return self.buckets.random_waste(rows)

    def _left_out(self, fitting: Fitting) -> str:
        """Only what there is, for a validation has no bounds to speak of."""
        reasons = {
            "with an empty side": self.empty,
            f"with more than {fitting.longest - 1:,} tokens on a side": self.long,
            f"with one side more than {fitting.largest_ratio:g} times as long as the other": self.uneven,
        }
        return f"left out of {len(self.sources):,} pairs: " + ", ".join(
            f"{count:,} {reason}" for reason, count in reasons.items() if count
        )

"""Labelled texts, and texts to be labelled, in batches of like length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headstart.data.batch import IGNORED, Batch, padded
from headstart.data.buckets import USUAL, Bucketing, Buckets
from headstart.data.framing import Frame, Ids, Keep
from headstart.errors import DataError


@dataclass(frozen=True, eq=False)
class LabelledBatch(Batch):
    """Right-padded ids (B, T); lengths, labels and the texts' own numbers (B).

    `segments` (B, T), only for pairs of texts, is 1 for the second; labels are IGNORED where there are none.
    `shares` (B, C), only where some labels are guessed, says how likely each class is.
    """

    ids: Tensor
    lengths: Tensor
    labels: Tensor
    segments: Tensor | None
    rows: Tensor
    shares: Tensor | None = None


class LabelledTexts:
    """Without `labels`, texts to be labelled; with `second`, pairs of texts, but for those whose second is empty.

    `shares` (N, C) are what a model learns in place of the labels, where it is unsure which of them are right.
    With `shuffle` other batches each epoch, for learning; without, the longest first, for evaluation.
    """

    def __init__(
        self,
        ids: Sequence[Ids],
        labels: Sequence[int] = (),
        *,
        frame: Frame,
        pad: int,
        context: int,
        second: Sequence[Ids] = (),
        shares: np.ndarray | None = None,
        keep: Keep = "start",
        bucketing: Bucketing = USUAL,
        shuffle: bool = True,
        seed: int = 0,
    ):
        if not len(ids):
            raise DataError("there are no texts to put in batches")
        assert len(labels) in (0, len(ids)), "a label for each text"
        assert len(second) in (0, len(ids)), "a second text for each text"
        assert shares is None or len(shares) == len(ids), "shares for each text"
        self.shares = shares
        self.pairs, self.pad = bool(second), pad
        others = [b if len(b) else None for b in second] or [None] * len(ids)
        self.laid = [frame.lay(a, b, context, keep) for a, b in zip(ids, others)]
        self.labels = np.array(labels if len(labels) else [IGNORED] * len(ids), np.int64)
        self.lengths = np.array([len(laid.ids) for laid in self.laid])
        self.truncated = sum(laid.truncated for laid in self.laid)
        self.note = _note(self.truncated, len(ids), context, keep)
        self.buckets = Buckets(self.lengths, bucketing, shuffle=shuffle, seed=seed)

    def steps(self, epoch: int) -> int:
        return len(self.buckets.batches(epoch))

    def batch(self, epoch: int, position: int) -> LabelledBatch:
        rows = self.buckets.batches(epoch)[position]
        ids = padded([self.laid[row].ids for row in rows], self.pad)
        return LabelledBatch(
            ids=torch.from_numpy(ids),
            lengths=torch.from_numpy(self.lengths[rows]),
            labels=torch.from_numpy(self.labels[rows]),
            segments=self._segments(rows, ids.shape[1]) if self.pairs else None,
            rows=torch.tensor(rows),
            shares=None if self.shares is None else torch.from_numpy(self.shares[rows]),
        )

    def waste(self, epoch: int) -> float:
        """The share of computed positions that are padding."""
        return self.buckets.waste(epoch)

    def random_waste(self, rows: int) -> float:
        """The same for batches of `rows` texts in random order."""
        return self.buckets.random_waste(rows)

    def _segments(self, rows: np.ndarray, width: int) -> Tensor:
        second = np.array([self.laid[row].second for row in rows])[:, None]
        places = np.arange(width)
        inside = (places >= second) & (places < self.lengths[rows][:, None])
        return torch.from_numpy(inside.astype(np.int64))


def _note(truncated: int, texts: int, context: int, keep: Keep) -> str:
    if not truncated:
        return ""
    lost = {"start": "end", "end": "start", "both": "middle"}[keep]
    verb, whose = ("are", "their") if truncated > 1 else ("is", "its")
    share = f"{truncated:,} of {texts:,} texts ({truncated / texts:.1%})"
    return f"{share} {verb} longer than the context of {context:,} tokens: {whose} {lost} is cut off"

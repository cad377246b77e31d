"""Windows for guessing hidden tokens from both sides."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headstart.data.batch import Batch
from headstart.data.chance import Purpose, chance
from headstart.data.cuts import Cuts, Window
from headstart.data.hiding import USUAL, Hiding, Masking, with_a_target
from headstart.text.store import Tokens
from headstart.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class MaskedBatch(Batch):
    """(B, T) each. `single` says that no row has padding or a second document, so no mask is needed."""

    ids: Tensor
    targets: Tensor
    positions: Tensor
    documents: Tensor
    single: bool


class MaskedWindows:
    """Documents framed by `<cls>` and `<sep>`, some tokens hidden, others each epoch."""

    def __init__(
        self,
        tokens: Tokens,
        length: int,
        rows: int,
        seed: int,
        tokenizer: Tokenizer,
        *,
        masking: Masking = USUAL,
        starts_word: np.ndarray | None = None,
        across: bool = False,
    ):
        self.cuts, self.tokenizer = Cuts(tokens, length, rows, seed, across=across), tokenizer
        self.hiding = Hiding(tokenizer, masking, starts_word)
        self.note = self.cuts.note

    def steps(self, epoch: int) -> int:
        return self.cuts.steps(epoch)

    def batch(self, epoch: int, position: int) -> MaskedBatch:
        window = self.cuts.take(epoch, position, self.tokenizer.pad)
        ids, targets = self._hidden(window, epoch)
        return MaskedBatch(
            ids=torch.from_numpy(ids),
            targets=torch.from_numpy(targets),
            positions=torch.from_numpy(window.positions.astype(np.int64)),
            documents=torch.from_numpy(window.documents.astype(np.int32)),
            single=bool((window.documents == 0).all()),
        )

    def _hidden(self, window: Window, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """A window's draw depends on its own number, not on the batch in which it stands."""
        whole = framed(window.ids.astype(np.int64), self.tokenizer)
        draws = [chance(Purpose.HIDING, self.cuts.seed, epoch, int(number)) for number in window.numbers]
        rows = [self.hiding.hide(ids, draw) for ids, draw in zip(whole, draws)]
        seen, targets = (np.stack(column) for column in zip(*rows))
        return seen, with_a_target(targets, whole)


def framed(ids: np.ndarray, tokenizer: Tokenizer) -> np.ndarray:
    """A document starts with `<cls>` and ends with `<sep>` for those who read both ways."""
    swapped = np.where(ids == tokenizer.sos, tokenizer.cls, ids)
    return np.where(swapped == tokenizer.eos, tokenizer.sep, swapped)

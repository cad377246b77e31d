"""Windows for predicting the next token."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headstart.data.batch import IGNORED, Batch
from headstart.data.cuts import Cuts
from headstart.text.store import Tokens


@dataclass(frozen=True, eq=False)
class CausalBatch(Batch):
    """(B, T) each. `documents` numbers the texts of a row, -1 at padding; `single` says that no row has two."""

    ids: Tensor
    targets: Tensor
    positions: Tensor
    documents: Tensor
    single: bool


class CausalWindows:
    """Each stored token is a target once an epoch; nothing is learnt from `<eos>` to the next `<sos>`.

    With `across`, documents look back at those before them and positions run through the window.
    """

    def __init__(self, tokens: Tokens, length: int, rows: int, seed: int, pad: int, across: bool = False):
        self.cuts, self.pad = Cuts(tokens, length, rows, seed, across=across), pad
        self.note = self.cuts.note

    def steps(self, epoch: int) -> int:
        return self.cuts.steps(epoch)

    def batch(self, epoch: int, position: int) -> CausalBatch:
        window = self.cuts.take(epoch, position, self.pad)
        targets = np.where(window.last | ~window.real, IGNORED, window.following.astype(np.int64))
        return CausalBatch(
            ids=torch.from_numpy(window.ids.astype(np.int64)),
            targets=torch.from_numpy(targets),
            positions=torch.from_numpy(window.positions.astype(np.int64)),
            documents=torch.from_numpy(window.documents.astype(np.int32)),
            single=bool(window.documents.max() == 0),
        )

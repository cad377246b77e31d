"""Pairs cut into other pieces each time they are read, so that rare words are known by their parts."""

from collections.abc import Sequence

import numpy as np

from headstart.data.pairs import Recut
from headstart.data.ragged import Ragged
from headstart.recipes.translating.pair_files import Encoded
from headstart.recipes.translating.two_tongues import Tongues
from headstart.text.tokenizer import Tokenizer
from headstart.train.loop import draw


def recut(pairs: Encoded, tongues: Tongues, share: float, longest: int, seed: int) -> Recut:
    """What leaves out that share of the merges; drawn from the number of the batch, so that a resumed run draws alike.

    A text that would become longer than `longest` keeps its usual pieces.
    """

    def side(
        texts: list[str], usual: Ragged, rows: np.ndarray, tokenizer: Tokenizer, *numbers: int
    ) -> list[np.ndarray]:
        cut = tokenizer.encode_anew(texts, share, draw(seed, *numbers))
        return [np.array(ids) if 0 < len(ids) < longest else usual[row] for ids, row in zip(cut, rows)]

    def both(rows: np.ndarray, epoch: int, position: int) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
        chosen = [pairs.pairs[row] for row in rows]
        sources, targets = [pair.source_text for pair in chosen], [pair.target_text for pair in chosen]
        return (
            side(sources, pairs.sources, rows, tongues.source, epoch, position, 0),
            side(targets, pairs.targets, rows, tongues.target, epoch, position, 1),
        )

    return both

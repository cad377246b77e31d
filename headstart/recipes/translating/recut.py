"""Pairs cut into other pieces each time they are read, so that rare words are known by their parts."""

from collections.abc import Sequence

import numpy as np

from headstart.data.pairs import Recut
from headstart.data.ragged import Ragged
from headstart.recipes.translating.pair_files import Encoded
from headstart.recipes.translating.two_tongues import Tongues
from headstart.text.tokenizer import Tokenizer
from headstart.train.loop import draw

SAMPLE = 1_000  # pairs from which is told how much longer texts become
FITTING = 0.9  # of the texts are to find room; room for the longest would leave batches half empty


def recut(pairs: Encoded, tongues: Tongues, share: float, longest: int, seed: int) -> tuple[Recut, float]:
    """What leaves out that share of the merges, and by how much a text may grow that way, its end counted.

    Drawn from the number of the batch, so that a resumed run draws alike. A text that would grow more, or longer than
    `longest`, keeps its usual pieces.
    """
    room = _room(pairs, tongues, share, seed)

    def side(
        texts: list[str], usual: Ragged, rows: np.ndarray, tokenizer: Tokenizer, *numbers: int
    ) -> list[np.ndarray]:
        cut = tokenizer.encode_anew(texts, share, draw(seed, *numbers))
        known = [usual[row] for row in rows]
        most = [min(longest, int((len(ids) + 1) * room)) for ids in known]
        return [np.array(ids) if 0 < len(ids) < limit else old for ids, limit, old in zip(cut, most, known)]

    def both(rows: np.ndarray, epoch: int, position: int) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
        chosen = [pairs.pairs[row] for row in rows]
        sources, targets = [pair.source_text for pair in chosen], [pair.target_text for pair in chosen]
        return (
            side(sources, pairs.sources, rows, tongues.source, epoch, position, 0),
            side(targets, pairs.targets, rows, tongues.target, epoch, position, 1),
        )

    return both, room


def _room(pairs: Encoded, tongues: Tongues, share: float, seed: int) -> float:
    """How many times as long as usual most texts are at most, when cut anew."""
    rows = np.unique(np.linspace(0, len(pairs.pairs) - 1, SAMPLE).astype(int))
    grown = [1.0]
    for number, (tokenizer, usual) in enumerate(((tongues.source, pairs.sources), (tongues.target, pairs.targets))):
        chosen = [pairs.pairs[row] for row in rows]
        texts = [pair.target_text if number else pair.source_text for pair in chosen]
        cut = tokenizer.encode_anew(texts, share, draw(seed, number))
        grown += [(len(ids) + 1) / (len(usual[row]) + 1) for ids, row in zip(cut, rows)]
    return float(np.quantile(grown, FITTING))

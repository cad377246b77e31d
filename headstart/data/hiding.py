"""Which tokens a masked model has to guess, and what it sees in their place."""

from dataclasses import dataclass

import numpy as np

from headstart.data.batch import IGNORED
from headstart.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Masking:
    """BERT's numbers: of the tokens chosen, most are masked, some replaced, the others left as they are."""

    chosen: float = 0.15
    masked: float = 0.8
    replaced: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 < self.chosen <= 1.0:
            raise ValueError(f"chosen is {self.chosen}, but a share above 0 and up to 1 is needed")
        if min(self.masked, self.replaced) < 0.0 or self.masked + self.replaced > 1.0:
            raise ValueError("masked and replaced are shares of the chosen tokens and cannot exceed 1 together")


USUAL = Masking()


class Hiding:
    """Never chooses a special token. With `starts_word` (a flag per id) whole words are chosen.

    One longer than all that is to be chosen goes piece by piece: a script without spaces has words of whole sentences.
    """

    def __init__(self, tokenizer: Tokenizer, masking: Masking, starts_word: np.ndarray | None = None):
        self.mask, self.masking, self.starts_word = tokenizer.mask, masking, starts_word
        self.ordinary = np.ones(tokenizer.size, bool)
        self.ordinary[list(tokenizer.specials)] = False
        self.pieces = np.flatnonzero(self.ordinary)

    def hide(self, ids: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(T) -> what is seen, and the targets: IGNORED where nothing was chosen."""
        seen, targets = ids.copy(), np.full(len(ids), IGNORED, np.int64)
        places = np.flatnonzero(self.ordinary[ids])
        if not len(places):
            return seen, targets
        chosen = self._choose(ids, places, generator)
        targets[chosen] = ids[chosen]
        fate = generator.random(len(chosen))
        masked, replaced = self.masking.masked, self.masking.masked + self.masking.replaced
        others = self.pieces[generator.integers(len(self.pieces), size=len(chosen))]
        seen[chosen] = np.where(fate < masked, self.mask, np.where(fate < replaced, others, ids[chosen]))
        return seen, targets

    def _choose(self, ids: np.ndarray, places: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        wanted = max(1, round(self.masking.chosen * len(places)))
        if self.starts_word is None:
            return generator.permutation(places)[:wanted]
        begins = self.starts_word[ids[places]] | (np.diff(places, prepend=-2) > 1)
        words = np.cumsum(begins) - 1
        words = np.cumsum(begins | (np.bincount(words)[words] > wanted)) - 1
        order = generator.permutation(words[-1] + 1)
        fitting = np.searchsorted(np.cumsum(np.bincount(words)[order]), wanted, side="right")
        return places[np.isin(words, order[:fitting])]


def with_a_target(targets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """A last crumb of nothing but specials has its first token as target, so that a loss exists."""
    if (targets < 0).all():
        targets[0, 0] = ids[0, 0]
    return targets

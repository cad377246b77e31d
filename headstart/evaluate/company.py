"""Texts told apart by the company that their tokens keep: the mean of counted token vectors, and a logistic regression.

The vectors are counted on texts that need no labels, so this knows words that no label names; it takes seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headstart.evaluate.baseline import Regressed, regress
from headstart.text.pieces.specials import EOS
from headstart.text.store import Tokens
from headstart.train.counted import counted_vectors

WIDTH = 256  # numbers for each token
STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3)  # of the regression: the means are alike, so it has to be held back more
Ids = Sequence[int] | np.ndarray


@dataclass(frozen=True, eq=False)
class Company:
    """What was counted, and what the labels say about it."""

    vectors: np.ndarray  # (V, D), such that the training texts' means have a spread of 1
    found: Regressed

    def probabilities(self, texts: Sequence[Ids]) -> np.ndarray:
        """(N, C), calibrated."""
        return self.found.probabilities(means(self.vectors, texts))


def fit_company(
    counted_on: Sequence[Ids],
    texts: Sequence[Ids],
    labels: np.ndarray,
    valid_texts: Sequence[Ids],
    valid_labels: np.ndarray,
    classes: int,
    *,
    vocabulary: int,
    specials: frozenset[int],
) -> Company:
    """Count on `counted_on`, fit on the training texts, choose on the validation texts: ids of one tokenizer, all."""
    vectors = counted_vectors(end_to_end(counted_on), vocabulary, WIDTH, specials).numpy()
    vectors /= max(float(means(vectors, texts).std()), 1e-12)
    found = regress(means(vectors, texts), labels, means(vectors, valid_texts), valid_labels, classes, STRENGTHS)
    return Company(vectors, found)


def means(vectors: np.ndarray, texts: Sequence[Ids]) -> np.ndarray:
    """(N, D); zeros for an empty text."""
    return np.array([vectors[list(ids)].mean(0) if len(ids) else np.zeros(vectors.shape[1]) for ids in texts])


def end_to_end(texts: Sequence[Ids]) -> Tokens:
    """Texts as a store would hold them, but in memory."""
    lengths = [len(ids) + 1 for ids in texts]
    whole = np.concatenate([np.array([*ids, EOS], np.int64) for ids in texts])
    return Tokens(whole, np.cumsum([0, *lengths[:-1]]))

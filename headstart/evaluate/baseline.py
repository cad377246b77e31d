"""The classic classifiers that every model is put beside: no layers, seconds to fit, hard to beat on few labels."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion

from headstart.errors import DataError
from headstart.evaluate.calibration import fit_temperature, retemper
from headstart.evaluate.scores import LEAST, log_loss
from headstart.text.records import Row

WORD = r"\w+"  # letters of any script; one alone too: "l'amour" is "l" and "amour", and "y" is a word in French
STRENGTHS = (1.0, 4.0, 16.0, 64.0)  # C of the logistic regression: the larger, the less it is held back


@dataclass(frozen=True)
class Classic:
    """A kind of baseline: which pieces of a text it counts. One that counts none always says the commonest class."""

    name: str
    title: str
    pieces: tuple[dict[str, Any], ...] = field(default=(), repr=False)


_WORDS = {"token_pattern": WORD, "ngram_range": (1, 2)}
_CHARACTERS = {"analyzer": "char", "ngram_range": (2, 5)}
CLASSICS = (
    Classic("majority", "majority class"),
    Classic("words", "TF-IDF words 1-2 + logistic regression", (_WORDS,)),
    Classic("characters", "TF-IDF words 1-2 + characters 2-5 + logistic regression", (_WORDS, _CHARACTERS)),
)


@dataclass(frozen=True, eq=False)
class Regressed:
    """A logistic regression; `valid` (N, C) are its calibrated probabilities of the validation texts."""

    strength: float
    temperature: float
    valid: np.ndarray = field(repr=False)
    regression: Any = field(repr=False)

    def probabilities(self, counted: Any) -> np.ndarray:
        """(N, C), calibrated."""
        return retemper(_spread(self.regression, counted, self.valid.shape[1]), self.temperature)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A baseline that has read its training texts. `seconds` covers the texts' pieces and every strength tried."""

    kind: Classic
    seconds: float
    shares: np.ndarray = field(repr=False)  # (C,) how common each class is in training
    valid: np.ndarray = field(repr=False)  # (N, C) probabilities of the validation texts
    vectorizer: Any = field(default=None, repr=False)
    found: Regressed | None = None

    @property
    def strength(self) -> float:
        return self.found.strength if self.found else 0.0

    @property
    def temperature(self) -> float:
        return self.found.temperature if self.found else 1.0

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """(N, C), calibrated."""
        if self.found is None:
            return np.tile(self.shares, (len(texts), 1))
        return self.found.probabilities(self.vectorizer.transform(texts))


def fit_classic(
    kind: Classic,
    texts: Sequence[str],
    labels: np.ndarray,
    valid_texts: Sequence[str],
    valid_labels: np.ndarray,
    classes: int,
    strengths: Sequence[float] = STRENGTHS,
) -> Fitted:
    """Fit on the training texts; strength and temperature are chosen on the validation texts, by accuracy first."""
    start = time.perf_counter()
    shares = np.bincount(labels, minlength=classes) / len(labels)
    if not kind.pieces:
        valid = np.tile(shares, (len(valid_texts), 1))
        return Fitted(kind, time.perf_counter() - start, shares, valid)
    vectorizer, counted = _count_pieces(kind, texts)
    found = regress(counted, labels, vectorizer.transform(valid_texts), valid_labels, classes, strengths)
    return Fitted(kind, time.perf_counter() - start, shares, found.valid, vectorizer, found)


def regress(
    counted: Any,
    labels: np.ndarray,
    valid_counted: Any,
    valid_labels: np.ndarray,
    classes: int,
    strengths: Sequence[float],
) -> Regressed:
    """Fit on numbers for each training text; strength and temperature are chosen on the validation texts."""
    tries = []
    for strength in strengths:
        regression = LogisticRegression(C=strength, solver="lbfgs", max_iter=1000).fit(counted, labels)
        valid = _spread(regression, valid_counted, classes)
        right = float(np.mean(valid.argmax(1) == valid_labels))
        tries.append((right, -log_loss(valid_labels, valid), strength, regression, valid))
    _, _, strength, regression, valid = max(tries, key=lambda each: each[:2])
    temperature = fit_temperature(valid_labels, np.log(np.clip(valid, LEAST, 1.0)))
    return Regressed(strength, temperature, retemper(valid, temperature), regression)


def fit_strongest(train: Sequence[Row], valid: Sequence[Row], labels: Sequence[str]) -> Fitted:
    """The last of the classics, on labelled rows."""
    numbers = {label: number for number, label in enumerate(labels)}
    texts = [[plain_text(row) for row in part] for part in (train, valid)]
    truth = [np.array([numbers[row.label] for row in part]) for part in (train, valid)]
    return fit_classic(CLASSICS[-1], texts[0], truth[0], texts[1], truth[1], len(labels))


def plain_text(row: Row) -> str:
    """What a baseline reads of a row: both texts of a sentence pair, and never the pieces of a tokenizer."""
    return f"{row.text} {row.text_b}" if row.text_b else row.text


def _count_pieces(kind: Classic, texts: Sequence[str]) -> tuple[Any, Any]:
    """TF-IDF of the pieces that occur in two texts at least, or in one where no piece occurs in two."""
    problem = ""
    for least in (2, 1):
        union = counters(kind, least)
        try:
            return union, union.fit_transform(texts)
        except ValueError as reason:
            problem = str(reason)
    raise DataError(f"the {len(texts):,} training texts hold no word to count ({problem}); are they in another column?")


def counters(kind: Classic, least: int = 1, vocabularies: Sequence[Sequence[str] | None] = (None, None)) -> Any:
    """What counts the pieces of a text, those of the `vocabularies` where they are known already."""
    parts = [
        TfidfVectorizer(**part, vocabulary=known, sublinear_tf=True, min_df=least, dtype=np.float64)
        for part, known in zip(kind.pieces, vocabularies)
    ]
    return FeatureUnion([(str(number), part) for number, part in enumerate(parts)])


def _spread(regression: Any, counted: Any, classes: int) -> np.ndarray:
    """(N, C) with a column for the classes that the training texts lack, too."""
    spread = np.zeros((counted.shape[0], classes))
    spread[:, regression.classes_] = regression.predict_proba(counted)
    return spread

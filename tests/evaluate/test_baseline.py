"""The classic baselines learn, repeat themselves, survive small data, and reach the published figures."""

from pathlib import Path

import numpy as np
import pytest

from headstart.errors import DataError
from headstart.evaluate.baseline import CLASSICS, fit_classic, plain_text
from headstart.evaluate.scores import score
from headstart.text.readers import read_labelled
from headstart.text.records import Row

MAJORITY, WORDS, CHARACTERS = CLASSICS
GOOD, BAD = ["bon", "beau", "superbe", "magnifique"], ["mauvais", "nul", "ennuyeux", "raté"]


def reviews(texts: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, texts)
    written = [
        " ".join([*random.choice(GOOD if label else BAD, 2), "livre", f"mot{i}"]) for i, label in enumerate(labels)
    ]
    return written, labels


def test_words_that_tell_the_classes_apart_are_learnt() -> None:
    for kind in (WORDS, CHARACTERS):
        fitted = fit_classic(kind, *reviews(60), *reviews(20, 1), classes=2)
        texts, labels = reviews(100, 2)
        assert score(labels, fitted.probabilities(texts)).accuracy == 1.0
        assert fitted.seconds > 0


def test_the_majority_says_the_commonest_class_with_its_share() -> None:
    fitted = fit_classic(MAJORITY, ["a"] * 4, np.array([1, 1, 1, 0]), ["a"], np.array([0]), 3)
    assert fitted.probabilities(["anything", ""]).tolist() == [[0.25, 0.75, 0.0]] * 2


def test_the_strength_is_chosen_on_validation_only() -> None:
    texts, labels = reviews(60)
    valid_texts, valid_labels = reviews(20, 1)
    best = fit_classic(WORDS, texts, labels, valid_texts, valid_labels, 2)
    alone = fit_classic(WORDS, texts, labels, valid_texts, valid_labels, 2, strengths=(best.strength,))
    assert (best.valid == alone.valid).all()
    assert (best.probabilities(valid_texts) == alone.probabilities(valid_texts)).all()


def test_small_data_works() -> None:
    texts = ["un livre rare", *(f"texte banal {i}" for i in range(9))]
    labels = np.array([1] + [0] * 9)
    for kind in CLASSICS:
        probabilities = fit_classic(kind, texts, labels, texts, labels, 2).probabilities(["livre rare", ""])
        assert probabilities.shape == (2, 2)
        assert np.allclose(probabilities.sum(1), 1)


def test_a_class_that_training_lacks_has_a_column_all_the_same() -> None:
    fitted = fit_classic(WORDS, *reviews(30), ["bon", "autre"], np.array([1, 2]), classes=3)
    assert fitted.probabilities(["bon"]).shape == (1, 3)


def test_texts_without_a_word_are_refused() -> None:
    with pytest.raises(DataError, match="no word"):
        fit_classic(WORDS, ["", "..."], np.array([0, 1]), ["a"], np.array([0]), 2)


def test_both_texts_of_a_pair_are_read_and_pieces_are_not() -> None:
    assert plain_text(Row("a b", "f", 1, "▁a ▁b", "0", "c")) == "a b c"


def test_the_figures_on_french_reviews(shared_data: Path) -> None:
    folder = shared_data / "lab" / "cls-books"
    parts = {}
    for name in ("train", "valid", "test"):
        rows = read_labelled(f"{folder / name}.review.spm:{folder / name}.label")
        parts[name] = [plain_text(row) for row in rows], np.array([int(row.label) for row in rows])
    fitted = fit_classic(WORDS, *parts["train"], *parts["valid"], classes=2)
    texts, labels = parts["test"]
    assert score(labels, fitted.probabilities(texts)).accuracy == pytest.approx(0.84, abs=0.006)

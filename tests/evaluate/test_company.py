"""Words that no label names are told apart by the company that they keep."""

import random

import numpy as np

from headstart.evaluate.company import end_to_end, fit_company, means

NAMED, UNNAMED = (10, 11), ((20, 21, 22), (30, 31, 32))  # tokens of two classes
FILLING = tuple(range(40, 60))


def text(draw: random.Random, *tokens: int) -> list[int]:
    found = [*draw.choices(FILLING, k=draw.randint(3, 8)), *tokens]
    draw.shuffle(found)
    return found


def test_unnamed_words_are_told_apart() -> None:
    draw, classes = random.Random(0), np.array([0, 1] * 150)
    train = [text(draw, NAMED[c]) for c in classes]
    more = [text(draw, NAMED[c], *draw.sample(UNNAMED[c], 2)) for c in [0, 1] * 2_000]
    test = [text(draw, draw.choice(UNNAMED[c])) for c in classes]
    found = fit_company(more, train, classes, train, classes, 2, vocabulary=60, specials=frozenset(range(7)))
    shares = found.probabilities(test)
    assert shares.shape == (300, 2)
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-6)
    assert (shares.argmax(1) == classes).mean() > 0.9  # chance is 0.5


def test_an_empty_text_has_a_mean_of_zeros() -> None:
    assert means(np.ones((5, 3)), [[], [1, 2]]).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_texts_stand_end_to_end() -> None:
    tokens = end_to_end([[7, 8], [], [9]])
    assert [tokens.document(number).tolist() for number in range(tokens.documents)] == [[7, 8, 2], [2], [9, 2]]

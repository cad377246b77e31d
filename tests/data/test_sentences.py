"""Sentence pairs: B follows A half of the time, and nothing but its content says when."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch
from data.made_tokens import CLS, PAD, SEP, SIZE, VOCABULARY, document_lengths, stored
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from headstart.data.batch import IGNORED
from headstart.data.flags import ends_sentence, starts_word
from headstart.data.sentences import SentenceBatch, SentencePairs
from headstart.errors import DataError
from headstart.text.store import Tokens
from headstart.text.tokenizer import Tokenizer

STOP, BEGIN = 7, 8
ENDS = np.arange(SIZE) == STOP


def pairs_of(tokens: Tokens, length: int = 64, rows: int = 8, seed: int = 0) -> SentencePairs:
    return SentencePairs(tokens, length, rows, seed, VOCABULARY, ends_sentence=ENDS)


def rows_of(batch: SentenceBatch) -> list[tuple[list[int], list[int], bool]]:
    """A, B and whether B follows, with nothing hidden; where nothing is asked it does."""
    whole = torch.where(batch.targets == IGNORED, batch.ids, batch.targets)
    rows = []
    for ids, segments, follows in zip(whole.tolist(), batch.segments.tolist(), batch.follows.tolist()):
        real = [id for id in ids if id != PAD]
        first = real.index(SEP)
        a, b = real[1:first], real[first + 1 : -1]
        assert real == [CLS, *a, SEP, *b, SEP]
        assert segments == [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * (len(ids) - len(real))
        rows.append((a, b, bool(follows)))
    return rows


def all_rows(pairs: SentencePairs, epochs: int = 1) -> list[tuple[list[int], list[int], bool]]:
    batches = [pairs.batch(epoch, position) for epoch in range(epochs) for position in range(pairs.steps(epoch))]
    return [row for batch in batches for row in rows_of(batch)]


def prose(documents: int, sentences: int = 12) -> Tokens:
    """Document n consists of the token n + 8 and stops."""
    draw = np.random.default_rng(0)
    texts = [[[number + 8] * draw.integers(3, 15) + [STOP] for _ in range(sentences)] for number in range(documents)]
    return stored([[id for sentence in text for id in sentence] for text in texts])


@given(document_lengths.filter(lambda lengths: max(lengths) > 1), st.integers(7, 40), st.integers(0, 2))
def test_a_pair_that_follows_stands_so_in_a_document(lengths: list[int], length: int, epoch: int) -> None:
    draw = np.random.default_rng(len(lengths))
    tokens = stored([[int(id) for id in draw.integers(STOP, 30, size)] for size in lengths])
    text = " ".join(map(str, tokens.ids.tolist()))
    pairs = pairs_of(tokens, length)
    for position in range(pairs.steps(epoch)):
        batch = pairs.batch(epoch, position)
        assert batch.ids.shape[1] <= length
        assert (batch.targets != IGNORED).any()
        for a, b, follows in rows_of(batch):
            assert a
            assert b
            joined = " ".join(map(str, a + b))
            assert not follows or joined in text


def test_half_of_the_pairs_follow_and_the_others_come_from_another_document() -> None:
    rows = all_rows(pairs_of(prose(100)), epochs=10)
    for a, b, follows in rows:
        assert (a[0] == b[0]) == follows
    assert np.mean([follows for *_, follows in rows]) == pytest.approx(0.5, abs=0.05)


def test_texts_start_and_end_with_sentences() -> None:
    rows = all_rows(pairs_of(prose(50)))
    assert np.mean([a[-1] == STOP and b[-1] == STOP for a, b, _ in rows]) > 0.99


def test_lengths_do_not_give_the_answer_away() -> None:
    rows = all_rows(pairs_of(prose(100, sentences=30), length=64), epochs=4)
    for size in (lambda a, b: len(a), lambda a, b: len(b), lambda a, b: len(a) + len(b)):
        yes, no = ([size(a, b) for a, b, follows in rows if follows is wanted] for wanted in (True, False))
        spread = np.sqrt(np.var(yes) / len(yes) + np.var(no) / len(no))
        assert abs(np.mean(yes) - np.mean(no)) < 4 * spread


def ragged(documents: int) -> Tokens:
    """Few sentences to a document, of very different lengths; BEGIN stands first in each, and some lack their stop."""
    draw = np.random.default_rng(0)
    texts: list[list[int]] = []
    for _ in range(documents):
        sizes = draw.integers(1, 4) + draw.geometric(0.15, draw.integers(1, 7))
        sentences = [[BEGIN, *draw.integers(9, SIZE, size).tolist(), STOP] for size in sizes]
        texts.append([id for sentence in sentences for id in sentence][: None if draw.random() < 0.7 else -1])
    return stored(texts)


def form_of(a: list[int], b: list[int]) -> list[float]:
    ends, begins, whole = a[-1] == STOP, b[0] == BEGIN, b[-1] == STOP
    return [len(a), len(b), len(a) + len(b), len(a) / len(b), ends, begins, whole, ends and begins, not ends and begins]


@pytest.mark.parametrize("length", [24, 64])
def test_no_form_gives_the_answer_away(length: int) -> None:
    rows = all_rows(pairs_of(ragged(400), length), epochs=8)
    forms = np.array([form_of(a, b) for a, b, _ in rows], float)
    follows = np.array([follows for *_, follows in rows])
    assert follows.mean() == pytest.approx(0.5, abs=0.04)  # so hardly any went without a stranger
    judge = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(C=0.1, max_iter=500))
    assert cross_val_score(judge, forms, follows, cv=5).mean() == pytest.approx(0.5, abs=0.04)


def test_a_stranger_comes_from_a_document_of_like_size() -> None:
    short, long = ([[first + number % 90] * size for number in range(300)] for first, size in ((8, 10), (98, 300)))
    strangers = [b[0] for a, b, follows in all_rows(pairs_of(stored(short + long))) if a[0] < 98 and not follows]
    assert np.mean([id < 98 for id in strangers]) > 0.8


def test_a_pair_without_a_like_stranger_asks_nothing() -> None:
    pairs = pairs_of(stored([[8, 9, 10, 11], [12, STOP]]))
    asked = [pairs.batch(epoch, 0).follows.tolist() for epoch in range(20)]
    assert all(IGNORED in follows for follows in asked)


def test_without_sentence_ends_texts_are_cut_by_length() -> None:
    rows = all_rows(pairs_of(stored([[9] * 300, [10] * 300]), length=32))
    assert all(8 <= len(a) + len(b) <= 29 for a, b, _ in rows)


def test_any_batch_can_be_made_alone_and_epochs_differ() -> None:
    tokens = prose(40)
    in_order = [pairs_of(tokens).batch(1, position) for position in range(pairs_of(tokens).steps(1))]
    alone = pairs_of(tokens).batch(1, 3)
    assert torch.equal(alone.ids, in_order[3].ids)
    assert torch.equal(alone.targets, in_order[3].targets)
    assert rows_of(pairs_of(tokens).batch(2, 3)) != rows_of(alone)


def test_one_document_is_said_and_documents_without_two_tokens_are_refused() -> None:
    assert "one document" in pairs_of(stored([[9, 10, 11]])).note
    assert pairs_of(stored([[9, 10, 11]])).batch(0, 0).follows.tolist() == [IGNORED]
    with pytest.raises(DataError, match="two tokens"):
        pairs_of(stored([[9], [10]]))


def test_pieces_tell_where_words_start_and_sentences_end() -> None:
    pieces = ["<sos>", "▁le", "mot", ".", "▁!", "?»", "...", "▁", "a.b", "<sep>"]
    vocabulary = cast(
        Tokenizer, SimpleNamespace(size=len(pieces), piece=pieces.__getitem__, specials=frozenset({0, 9}))
    )
    assert np.flatnonzero(starts_word(vocabulary)).tolist() == [1, 4, 7]
    assert np.flatnonzero(ends_sentence(vocabulary)).tolist() == [3, 4, 5, 6]

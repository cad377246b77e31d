"""Labelled batches: framed, cut with a word about it, and little padding."""

from pathlib import Path

import numpy as np
import pytest
import torch
from data.made_tokens import CLS, EOS, PAD, SEP, SOS, VOCABULARY
from hypothesis import given
from hypothesis import strategies as st

from headstart.data.batch import IGNORED
from headstart.data.buckets import Bucketing
from headstart.data.framing import Frame, Keep, kept
from headstart.data.labelled import LabelledTexts
from headstart.errors import DataError

CAUSAL, BOTH_WAYS = Frame.causal(VOCABULARY), Frame.bidirectional(VOCABULARY)
some_texts = st.lists(st.lists(st.integers(7, 99), max_size=30), min_size=1, max_size=60)


@given(some_texts, st.integers(1, 7), st.integers(1, 200), st.integers(1, 4), st.integers(0, 2), st.booleans())
def test_each_text_stands_in_one_batch_within_the_limits(
    texts: list[list[int]], rows: int, budget: int, pool: int, epoch: int, shuffle: bool
) -> None:
    labels = [len(text) for text in texts]
    bucketing = Bucketing(rows=rows, budget=budget, pool=pool)
    source = LabelledTexts(
        texts, labels, frame=CAUSAL, pad=PAD, context=64, bucketing=bucketing, seed=1, shuffle=shuffle
    )
    seen = []
    for position in range(source.steps(epoch)):
        batch = source.batch(epoch, position)
        assert len(batch.ids) <= rows
        assert batch.ids.numel() <= budget or len(batch.ids) == 1
        for ids, length, label, row in zip(batch.ids, batch.lengths, batch.labels, batch.rows):
            assert ids[:length].tolist() == [SOS, *texts[row]]
            assert (ids[length:] == PAD).all()
            assert label == len(texts[row])
        seen += batch.rows.tolist()
    assert sorted(seen) == list(range(len(texts)))


def test_for_evaluation_the_longest_come_first_and_rows_restore_the_order() -> None:
    texts = [[9] * length for length in (3, 30, 1, 7, 12)]
    source = LabelledTexts(texts, frame=CAUSAL, pad=PAD, context=64, bucketing=Bucketing(rows=2), shuffle=False)
    batches = [source.batch(4, position) for position in range(source.steps(4))]
    assert torch.cat([batch.rows for batch in batches]).tolist() == [1, 4, 3, 0, 2]
    assert (batches[0].labels == IGNORED).all()


def test_frames() -> None:
    def ids(frame: Frame, second: list[list[int]]) -> list[list[int]]:
        source = LabelledTexts([[10, 11], []], frame=frame, pad=PAD, context=8, second=second, shuffle=False)
        return source.batch(0, 0).ids.tolist()

    assert ids(CAUSAL, []) == [[SOS, 10, 11], [SOS, PAD, PAD]]
    assert ids(BOTH_WAYS, []) == [[CLS, 10, 11, SEP], [CLS, SEP, PAD, PAD]]
    assert ids(CAUSAL, [[12], [13]]) == [[SOS, 10, 11, EOS, 12], [SOS, EOS, 13, PAD, PAD]]
    assert ids(BOTH_WAYS, [[12], []]) == [[CLS, 10, 11, SEP, 12, SEP], [CLS, SEP, PAD, PAD, PAD, PAD]]


def test_segments_mark_the_second_text() -> None:
    source = LabelledTexts([[10, 11], [9]], frame=BOTH_WAYS, pad=PAD, context=8, second=[[12], [13]], shuffle=False)
    segments = source.batch(0, 0).segments
    assert segments is not None
    assert segments.tolist() == [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]]
    assert LabelledTexts([[10]], frame=BOTH_WAYS, pad=PAD, context=8).batch(0, 0).segments is None


@pytest.mark.parametrize(("keep", "left"), [("start", [0, 1, 2]), ("end", [7, 8, 9]), ("both", [0, 1, 9])])
def test_what_is_kept_of_a_long_text(keep: Keep, left: list[int]) -> None:
    assert kept(range(10), 3, keep).tolist() == left
    assert kept(range(10), 0, keep).tolist() == []
    assert kept(range(3), 3, keep).tolist() == [0, 1, 2]


def test_truncation_is_counted_and_said() -> None:
    source = LabelledTexts([[9] * 4, [9] * 5, [9] * 50], frame=CAUSAL, pad=PAD, context=5, keep="end")
    assert source.truncated == 2
    assert source.note == "2 of 3 texts (66.7%) are longer than the context of 5 tokens: their start is cut off"
    assert source.batch(0, 0).lengths.max() == 5
    assert not LabelledTexts([[9] * 4], frame=CAUSAL, pad=PAD, context=5).note


@given(st.integers(0, 30), st.integers(0, 30), st.integers(4, 40))
def test_of_two_long_texts_the_longer_gives_way(a: int, b: int, context: int) -> None:
    laid = BOTH_WAYS.lay([9] * a, [10] * b, context, "start")
    left, right = int((laid.ids == 9).sum()), int((laid.ids == 10).sum())
    assert len(laid.ids) == min(a + b + 3, context)
    assert laid.truncated == (left + right < a + b)
    assert left == a or left + 1 >= right
    assert right == b or right + 1 >= left


def test_epochs_differ_and_any_batch_can_be_made_alone() -> None:
    texts = [[9] * (number % 37) for number in range(400)]

    def made() -> LabelledTexts:
        return LabelledTexts(texts, frame=CAUSAL, pad=PAD, context=64, bucketing=Bucketing(rows=8, pool=10), seed=3)

    source = made()
    first = [source.batch(0, position).rows.tolist() for position in range(source.steps(0))]
    assert [made().batch(0, position).rows.tolist() for position in (31, 7)] == [first[31], first[7]]
    second = [source.batch(1, position).rows.tolist() for position in range(source.steps(1))]
    assert not {frozenset(rows) for rows in first} & {frozenset(rows) for rows in second}


def test_no_texts_are_refused() -> None:
    with pytest.raises(DataError, match="no texts"):
        LabelledTexts([], frame=CAUSAL, pad=PAD, context=8)


def test_the_labs_reviews_waste_little(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (shared_data / "lab" / "cls-books" / "train.review.spm").read_text("utf-8").splitlines()
    texts = [np.zeros(len(line.split()), int) for line in lines]
    source = LabelledTexts(texts, frame=CAUSAL, pad=PAD, context=512, bucketing=Bucketing(rows=16))
    waste, random = np.mean([source.waste(epoch) for epoch in range(3)]), source.random_waste(16)
    with capsys.disabled():
        print(f"\npadding on the lab's reviews: {waste:.1%}; in random batches of 16: {random:.1%}; {source.note}")
    assert max(source.waste(epoch) for epoch in range(10)) < 0.08
    assert random > 0.4

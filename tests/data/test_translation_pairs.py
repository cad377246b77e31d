"""Translation pairs: shifted by one, under a budget, what is left out counted."""

import gzip
from pathlib import Path

import pytest
from data.made_tokens import EOS, PAD, SOS, VOCABULARY
from hypothesis import given
from hypothesis import strategies as st

from headstart.data.batch import IGNORED
from headstart.data.buckets import Bucketing
from headstart.data.pairs import Fitting, TranslationPairs
from headstart.data.ragged import Ragged
from headstart.errors import DataError

a_text = st.lists(st.integers(7, 99), min_size=1, max_size=20)
ANY = Fitting(longest=1_000, largest_ratio=1_000.0)


@given(st.lists(st.tuples(a_text, a_text), min_size=1, max_size=40), st.integers(1, 6), st.integers(1, 150))
def test_each_pair_stands_in_one_batch_within_the_limits(
    pairs: list[tuple[list[int], list[int]]], rows: int, budget: int
) -> None:
    sources, targets = [a for a, _ in pairs], [b for _, b in pairs]
    bucketing = Bucketing(rows=rows, budget=budget, pool=2)
    source = TranslationPairs(sources, targets, tokenizer=VOCABULARY, fitting=ANY, bucketing=bucketing)
    seen = []
    for position in range(source.steps(1)):
        batch = source.batch(1, position)
        assert len(batch.rows) <= rows
        assert batch.source.numel() + batch.given.numel() <= budget or len(batch.rows) == 1
        columns = (batch.rows, batch.source, batch.source_lengths, batch.given, batch.targets)
        for row, read, length, written, target in zip(*(column.tolist() for column in columns)):
            assert read[:length] == [*sources[row], EOS]
            assert set(read[length:]) <= {PAD}
            assert [id for id in written if id != PAD] == [SOS, *targets[row]]
            assert [id for id in target if id != IGNORED] == [*targets[row], EOS]
        seen += batch.rows.tolist()
    assert sorted(seen) == list(range(len(pairs)))


@given(st.lists(st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=5), max_size=4), max_size=4))
def test_rows_of_any_length_come_back_from_one_array(blocks: list[list[list[int]]]) -> None:
    rows, kept = [row for block in blocks for row in block], Ragged(blocks)
    assert [row.tolist() for row in kept] == rows
    assert [kept[place - len(rows)].tolist() for place in range(len(rows))] == rows
    assert [row.tolist() for row in kept[1:]] == rows[1:]


def test_pairs_that_do_not_fit_are_counted_once() -> None:
    sources = [[9] * 5, [], [9] * 99, [9] * 30, [9] * 2]
    targets = [[9] * 6, [9], [9] * 99, [9] * 3, [9] * 4]
    fitting = Fitting(longest=50, largest_ratio=4.0)
    pairs = TranslationPairs(sources, targets, tokenizer=VOCABULARY, fitting=fitting)
    assert (pairs.empty, pairs.long, pairs.uneven) == (1, 1, 1)
    assert pairs.rows.tolist() == [0, 4]
    assert pairs.note == (
        "left out of 5 pairs: 1 with an empty side, 1 with more than 49 tokens on a side, "
        "1 with one side more than 4 times as long as the other"
    )
    with pytest.raises(DataError, match="no pair"):
        TranslationPairs([[]], [[9]], tokenizer=VOCABULARY)


def test_little_is_wasted_on_real_sentences(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [words(shared_data / "multi30k" / f"train.{language}.gz") for language in ("en", "de")]
    pairs = TranslationPairs(*sides, tokenizer=VOCABULARY, bucketing=Bucketing(rows=4_096, budget=4_096, pool=8))
    waste, random = pairs.waste(0), pairs.random_waste(128)
    with capsys.disabled():
        print(f"\npadding on Multi30k: {waste:.1%}; in random batches of 128: {random:.1%}; {pairs.note}")
    assert waste < 0.15 < random


def words(path: Path) -> list[list[int]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [[9] * len(line.split()) for line in lines]

"""Windows for predicting the next token: each token once, none across documents, any batch alone."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from data.made_tokens import EOS, PAD, SOS, document_lengths, numbered, stored
from hypothesis import given
from hypothesis import strategies as st

from headstart.data.batch import IGNORED
from headstart.data.windows import CausalBatch, CausalWindows
from headstart.errors import DataError

settings_of_windows = {
    "lengths": document_lengths,
    "length": st.integers(1, 24),
    "rows": st.integers(1, 5),
    "seed": st.integers(0, 3),
    "epoch": st.integers(0, 3),
}


def whole_epoch(windows: CausalWindows, epoch: int) -> list[CausalBatch]:
    return [windows.batch(epoch, position) for position in range(windows.steps(epoch))]


@given(**settings_of_windows)
def test_each_token_is_a_target_once_an_epoch_and_follows_its_input(
    lengths: list[int], length: int, rows: int, seed: int, epoch: int
) -> None:
    tokens = numbered(lengths)
    batches = whole_epoch(CausalWindows(tokens, length, rows, seed, PAD), epoch)
    seen = [
        (given, target)
        for batch in batches
        for given, target in zip(batch.ids.flatten().tolist(), batch.targets.flatten().tolist())
        if target != IGNORED
    ]
    documents = [tokens.document(number).tolist() for number in range(tokens.documents)]
    expected = [pair for document in documents for pair in pairwise(document)]
    assert sorted(seen) == sorted(expected)


@given(**settings_of_windows)
def test_each_token_is_an_input_once_an_epoch(
    lengths: list[int], length: int, rows: int, seed: int, epoch: int
) -> None:
    tokens = numbered(lengths)
    batches = whole_epoch(CausalWindows(tokens, length, rows, seed, PAD), epoch)
    given = [id for batch in batches for id in batch.ids.flatten().tolist() if id != PAD]
    assert sorted(given) == sorted(tokens.ids.tolist())
    padding = sum(int((batch.ids == PAD).sum()) for batch in batches)
    assert padding == -len(tokens) % length


@given(**settings_of_windows, across=st.booleans())
def test_positions_and_documents_restart_at_each_document(
    lengths: list[int], length: int, rows: int, seed: int, epoch: int, across: bool
) -> None:
    windows = CausalWindows(numbered(lengths), length, rows, seed, PAD, across)
    for batch in whole_epoch(windows, epoch):
        for ids, positions, documents in zip(batch.ids.tolist(), batch.positions.tolist(), batch.documents.tolist()):
            position = document = 0
            for place, id in enumerate(ids):
                if id == PAD:
                    assert documents[place] == -1
                    continue
                if id == SOS and place and not across:
                    position, document = 0, document + 1
                assert (positions[place], documents[place]) == (position, document)
                position += 1
        assert batch.single == (int(batch.documents.max()) == 0)


@given(**settings_of_windows)
def test_any_batch_can_be_made_alone(lengths: list[int], length: int, rows: int, seed: int, epoch: int) -> None:
    tokens = numbered(lengths)
    in_order = whole_epoch(CausalWindows(tokens, length, rows, seed, PAD), epoch)
    for position in reversed(range(len(in_order))):
        alone = CausalWindows(tokens, length, rows, seed, PAD).batch(epoch, position)
        assert torch.equal(alone.ids, in_order[position].ids)
        assert torch.equal(alone.targets, in_order[position].targets)


def test_epochs_and_seeds_differ_in_order_and_in_cuts() -> None:
    tokens = numbered([50] * 40)
    first, second, other = (
        torch.cat([batch.ids for batch in whole_epoch(CausalWindows(tokens, 16, 4, seed, PAD), epoch)])
        for seed, epoch in ((0, 0), (0, 1), (1, 0))
    )
    assert not torch.equal(first, other)
    assert {tuple(row) for row in first.tolist()} == {tuple(row) for row in other.tolist()}  # the same cuts
    assert len({tuple(row) for row in first.tolist()} & {tuple(row) for row in second.tolist()}) < 5


def test_nothing_is_learnt_from_one_document_to_the_next() -> None:
    batch = CausalWindows(stored([[10, 11], [12]]), 8, 1, 0, PAD).batch(0, 0)
    assert batch.ids.tolist() == [[SOS, 10, 11, EOS, SOS, 12, EOS, PAD]]
    assert batch.targets.tolist() == [[10, 11, EOS, IGNORED, 12, EOS, IGNORED, IGNORED]]


def test_a_small_corpus_is_padded_and_says_so() -> None:
    windows = CausalWindows(stored([[10, 11]]), 512, 16, 0, PAD)
    assert windows.steps(0) == 1
    assert "only 4 tokens" in windows.note
    assert windows.batch(0, 0).ids.shape == (1, 512)
    assert windows.batch(0, 0).single
    assert not CausalWindows(stored([[10, 11]]), 4, 16, 0, PAD).note


def test_an_empty_store_is_refused() -> None:
    with pytest.raises(DataError, match="no tokens"):
        CausalWindows(stored([]), 8, 2, 0, PAD)


def test_there_is_no_batch_after_the_last() -> None:
    windows = CausalWindows(stored([[10] * 30]), 8, 2, 0, PAD)
    with pytest.raises(IndexError):
        windows.batch(0, windows.steps(0))


def test_the_last_batch_of_a_large_store_is_as_quick_as_the_first() -> None:
    tokens = stored([list(np.arange(7, 107))] * 2_000)
    windows = CausalWindows(tokens, 64, 16, 0, PAD)
    assert windows.batch(5, windows.steps(5) - 1).ids.dtype == torch.int64
    assert windows.batch(5, 0).documents.dtype == torch.int32


@given(rows=st.integers(1, 7), world=st.integers(1, 5))
def test_the_workers_shares_are_the_batch(rows: int, world: int) -> None:
    ids = torch.arange(rows * 3).view(rows, 3)
    batch = CausalBatch(ids=ids, targets=ids, positions=ids, documents=ids, single=True)
    shares = [batch.share(rank, world) for rank in range(world)]
    learnt = [share.targets[share.targets >= 0] for share in shares]
    assert sorted(torch.cat(learnt).tolist()) == list(range(rows * 3))
    assert all(len(share.ids) for share in shares)

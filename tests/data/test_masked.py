"""Masked windows: BERT's proportions, drawn anew each epoch, the same draw for the same place."""

import numpy as np
import pytest
import torch
from data.made_tokens import CLS, EOS, MASK, OOV, PAD, SEP, SIZE, SOS, VOCABULARY, document_lengths, numbered, stored
from hypothesis import given
from hypothesis import strategies as st

from headstart.data.batch import IGNORED
from headstart.data.hiding import Hiding, Masking
from headstart.data.masked import MaskedBatch, MaskedWindows

MUCH = stored([list(np.random.default_rng(number).integers(7, SIZE, 500)) for number in range(100)])


def windows_of(seed: int = 0) -> MaskedWindows:
    return MaskedWindows(MUCH, 128, 16, seed, VOCABULARY)


def epoch_of(windows: MaskedWindows, epoch: int) -> tuple[torch.Tensor, torch.Tensor]:
    batches = [windows.batch(epoch, position) for position in range(windows.steps(epoch))]
    return torch.cat([batch.ids for batch in batches]), torch.cat([batch.targets for batch in batches])


def test_the_proportions_are_those_of_bert() -> None:
    ids, targets = epoch_of(windows_of(), 0)
    chosen = targets != IGNORED
    ordinary = (ids >= 7) | (ids == MASK)
    assert chosen.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.002)
    masked, kept = ids[chosen] == MASK, ids[chosen] == targets[chosen]
    assert masked.float().mean() == pytest.approx(0.8, abs=0.015)
    assert kept.float().mean() == pytest.approx(0.1, abs=0.012)
    replaced = ids[chosen][~masked & ~kept]
    assert replaced.min() >= 7
    assert len(replaced.unique()) > 0.9 * (SIZE - 7)


def test_specials_and_padding_are_neither_chosen_nor_put_in() -> None:
    tokens = stored([[OOV, 10, 11, 12] * 5, [OOV] * 3] * 20)
    windows = MaskedWindows(tokens, 33, 4, 0, VOCABULARY)
    ids, targets = epoch_of(windows, 1)
    assert set(targets.unique().tolist()) == {IGNORED, 10, 11, 12}
    assert not {SOS, EOS} & set(ids.unique().tolist())
    unseen = targets == IGNORED
    assert set(ids[unseen].unique().tolist()) <= {OOV, CLS, SEP, PAD, 10, 11, 12}


def test_a_draw_repeats_and_epochs_differ() -> None:
    first, again, second = (epoch_of(windows_of(), epoch) for epoch in (0, 0, 1))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    share = (first[1] != IGNORED) & (second[1] != IGNORED)
    assert share.float().mean() < 0.05


@given(document_lengths, st.integers(1, 24), st.integers(1, 5), st.integers(0, 2))
def test_unhidden_each_token_stands_once_and_every_batch_has_a_target(
    lengths: list[int], length: int, rows: int, epoch: int
) -> None:
    tokens = numbered(lengths)
    vocabulary = type(VOCABULARY)(**{**vars(VOCABULARY), "size": len(tokens) + 7})
    windows = MaskedWindows(tokens, length, rows, 0, vocabulary)
    batches = [windows.batch(epoch, position) for position in reversed(range(windows.steps(epoch)))]
    found = [id for batch in batches for id in unhidden(batch).flatten().tolist() if id != PAD]
    framed = [{SOS: CLS, EOS: SEP}.get(id, id) for id in tokens.ids.tolist()]
    assert sorted(found) == sorted(framed)
    assert all((batch.targets != IGNORED).any() for batch in batches)


def unhidden(batch: MaskedBatch) -> torch.Tensor:
    return torch.where(batch.targets == IGNORED, batch.ids, batch.targets)


def test_a_draw_belongs_to_its_window_not_to_the_batch() -> None:
    alone, together = (MaskedWindows(MUCH, 128, rows, 0, VOCABULARY) for rows in (1, 16))
    assert torch.equal(alone.batch(2, 21).ids[0], together.batch(2, 1).ids[5])


def test_padding_needs_a_mask_and_a_full_window_of_one_document_none() -> None:
    assert not MaskedWindows(stored([[10, 11]]), 6, 1, 0, VOCABULARY).batch(0, 0).single
    assert MaskedWindows(stored([[10, 11]]), 4, 1, 0, VOCABULARY).batch(0, 0).single
    assert not MaskedWindows(stored([[10, 11]] * 2), 8, 1, 0, VOCABULARY).batch(0, 0).single
    assert MaskedWindows(stored([[10, 11]] * 2), 8, 1, 0, VOCABULARY, across=True).batch(0, 0).single


@given(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=80), st.integers(0, 50))
def test_whole_words_are_hidden_whole(ids: list[int], seed: int) -> None:
    starts_word = np.arange(SIZE) % 3 == 0
    hiding = Hiding(VOCABULARY, Masking(masked=1.0, replaced=0.0), starts_word)
    seen, _ = hiding.hide(np.array(ids), np.random.default_rng(seed))
    ordinary, words = sum(id >= 7 for id in ids), []
    for place, id in enumerate(ids):
        if id >= 7 and (starts_word[id] or not place or ids[place - 1] < 7):
            words.append([place])
        elif id >= 7:
            words[-1].append(place)
    wanted = max(1, round(0.15 * ordinary))
    for word in words:
        if len(word) <= wanted:
            assert len({seen[place] == MASK for place in word}) == 1
    assert ordinary == 0 or 0 < (seen == MASK).sum() - ids.count(MASK) <= wanted


def test_a_script_without_spaces_is_not_hidden_whole() -> None:
    """A text without a space is one word, longer than all that is to be hidden."""
    hiding = Hiding(VOCABULARY, Masking(masked=1.0, replaced=0.0), np.zeros(SIZE, bool))
    seen, _ = hiding.hide(np.arange(10, 110), np.random.default_rng(0))
    assert (seen == MASK).sum() == 15


def test_shares_that_make_no_sense_are_refused() -> None:
    for wrong in ({"chosen": 0.0}, {"chosen": 1.5}, {"masked": 0.9, "replaced": 0.2}, {"masked": -0.1}):
        with pytest.raises(ValueError, match="share"):
            Masking(**wrong)

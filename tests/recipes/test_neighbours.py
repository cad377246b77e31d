"""One word, two meanings: its uses fall apart."""

from typing import Any

import numpy as np
import pytest
from recipes.planted import masked_run, sentences

from headstart.checkpoint import load
from headstart.errors import ConfigError, DataError
from headstart.recipes.neighbours import Neighbours, find_neighbours
from headstart.recipes.vectors.of_words import WordVectors
from headstart.text.records import Row

TEXTS, MEANINGS = sentences(300, seed=7)


def found(word: str = "bank", **options: Any) -> Neighbours:
    rows = [Row(text, "texts.txt", line) for line, text in enumerate(TEXTS, 1)]
    return find_neighbours(masked_run(), rows, word, **options)


def test_the_nearest_use_has_the_same_meaning() -> None:
    uses = found().uses
    assert len(uses) == len(TEXTS)
    right = [MEANINGS[uses[use.nearest[0][0]].number] == MEANINGS[use.number] for use in uses]
    assert np.mean(right) >= 0.95


def test_the_groups_are_the_meanings() -> None:
    answer = found()
    assert len(answer.groups) == 2
    for group in answer.groups:
        _, counts = np.unique([MEANINGS[answer.uses[member].number] for member in group.members], return_counts=True)
        assert counts.max() / counts.sum() >= 0.95
        assert group.within > answer.between
    assert answer.silhouette > 0.3


def test_numbers_agree_with_the_plain_way() -> None:
    answer = found(groups=3, nearest=4)
    rows = [Row(text, "texts.txt", line) for line, text in enumerate(TEXTS, 1)]
    source = WordVectors(load(masked_run()), rows, "mean", wanted=lambda word: word == "bank")
    table = np.concatenate([block.table for block in source.blocks()])
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosines = unit @ unit.T
    group = np.array([use.group for use in answer.uses])
    apart = ~np.eye(len(unit), dtype=bool)
    for number, members in enumerate(answer.groups):
        pairs = (group[:, None] == number) & (group == number) & apart
        assert members.within == pytest.approx(cosines[pairs].mean(), abs=1e-4)
        typical = members.members[0]
        for member in members.members:
            assert answer.uses[member].likeness == pytest.approx(cosines[member, typical], abs=1e-4)
    assert answer.between == pytest.approx(cosines[group[:, None] != group].mean(), abs=1e-4)
    np.fill_diagonal(cosines, -2)
    for i, use in enumerate(answer.uses):
        assert [cosine for _, cosine in use.nearest] == pytest.approx(np.sort(cosines[i])[::-1][:4], abs=1e-4)


def test_uses_are_shown_where_they_stand() -> None:
    for use in found().uses:
        text = TEXTS[use.number]
        assert text[use.start : use.end] == use.word == "bank"
        assert use.before + use.word + use.after == text[max(0, use.start - 40) : use.end + 40]


def test_few_uses_and_more_than_asked_for() -> None:
    answer = found(most=10)
    assert (len(answer.uses), answer.more) == (10, True)
    assert not found(most=300).more
    one = found("BANK", most=1)
    assert (one.groups[0].members, one.uses[0].nearest, one.silhouette) == ((0,), (), 0.0)


@pytest.mark.parametrize(("word", "said"), [("river bank", "one word"), ("", "one word"), ("it's", "one word")])
def test_one_word_is_asked_for(word: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        found(word)


def test_a_word_that_is_not_there() -> None:
    with pytest.raises(DataError, match="no use of 'zebra' in 300 texts"):
        found("zebra")

"""`<mask>` becomes a gap where a word would stand, and nothing else becomes a special id."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.small_texts import small_texts

from headstart.text.gaps import Gaps
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

TOKENIZER = train_tokenizer(["the cat sat on the mat.", "a c t o"] * 50, 400)
GAPS = Gaps(TOKENIZER)
SPECIAL = {"<sos>", "<pad>", "<eos>", "<cls>", "<sep>", "<oov>"}


def pieces(text: str) -> list[str]:
    return [TOKENIZER.piece(id) for id in GAPS.encode(text)]


@pytest.mark.parametrize("word", ["cat", "mat", "the", "sat"])
def test_a_gap_stands_where_the_piece_of_the_word_stood(word: str) -> None:
    text = "the cat sat on the mat."
    ids = TOKENIZER.encode(text)
    (piece,) = TOKENIZER.encode(word)
    place = ids.index(piece)
    ids[place] = TOKENIZER.mask
    assert GAPS.encode(text.replace(word, "<mask>", 1)) == ids


def test_a_gap_inside_a_word_begins_none() -> None:
    assert pieces("the c<mask>")[-2:] == ["▁c", "<mask>"]
    assert pieces("the <mask>t.")[1:] == ["<mask>", "t", "."]
    assert pieces("<mask><mask> cat") == ["<mask>", "<mask>", "▁cat"]
    assert pieces("<mask> <mask>") == ["<mask>", "<mask>"]


@given(st.lists(st.one_of(st.just("<mask>"), st.sampled_from(sorted(SPECIAL)), st.text(max_size=8)), max_size=8))
def test_gaps_are_counted_and_the_rest_comes_back(parts: list[str]) -> None:
    text = "".join(parts)
    ids = GAPS.encode(text)
    assert ids.count(TOKENIZER.mask) == text.count("<mask>")
    assert not {TOKENIZER.piece(id) for id in ids} & SPECIAL
    if "<mask>" not in text:
        assert ids == TOKENIZER.encode(text)


def test_a_text_may_hold_the_stand_in_itself() -> None:
    ids = GAPS.encode("a\ufdd0<mask>\ufdd1")
    assert ids.count(TOKENIZER.mask) == 1
    assert TOKENIZER.decode(ids) == "a\ufdd0\ufdd1"


def test_other_forms_of_unicode_keep_the_place() -> None:
    composed = train_tokenizer(small_texts(), 400, normalise="nfc")
    ids = Gaps(composed).encode("le\u0301 <mask>e\u0301")
    assert ids.count(composed.mask) == 1
    assert composed.decode(ids[: ids.index(composed.mask)]) == "lé"
    assert composed.decode(ids[ids.index(composed.mask) + 1 :]) == "é"


def test_a_tokenizer_without_bytes(shared_data: Path) -> None:
    lab = Tokenizer.load(shared_data / "lab").with_bidirectional()
    gaps = Gaps(lab)
    ids = lab.encode("Ce livre est magnifique.")
    ids[ids.index(*lab.encode("magnifique"))] = lab.mask
    assert gaps.encode("Ce livre est <mask>.") == ids
    assert gaps.encode("日<mask><mask>本 <mask>").count(lab.mask) == 3
    assert gaps.encode("日<mask>本").count(lab.oov) == 2

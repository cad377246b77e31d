"""The shorter way to the ids gives the same ids."""

import io
import lzma
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st
from text.small_texts import small_texts

from headstart.text.pieces.source import Source
from headstart.text.storing import words
from headstart.text.storing.words import Words, cuts_words_apart
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

TEXTS = small_texts()
OURS = {form: train_tokenizer(TEXTS, 500, normalise=form) for form in ("none", "nfc", "nfkc")}
ODD = [
    "  ",
    " ",
    "▁",
    "\u00a0",
    "\u200b",
    "\u00a8",
    "\u00b4",
    "e\u0301",
    "½",
    "\ue000",
    "\n",
    "\t",
    "中文",
    "😀",
    "\ud800",
    "ﬁ",
]
odd_texts = st.lists(st.sampled_from([*ODD, "ka", "ro.", " mi", "lé,", "<mask>"]) | st.text(max_size=4)).map("".join)


@pytest.mark.parametrize("form", OURS)
@given(texts=st.lists(odd_texts, max_size=4))
@example(texts=["¨ x", "a ¨", "x \u200b y ´´"])
def test_ours_is_cut_the_same(form: str, texts: list[str]) -> None:
    same(Words(OURS[form]), texts)


def test_a_tokenizer_of_ours_cuts_words_apart() -> None:
    assert all(map(cuts_words_apart, OURS.values()))


def test_what_is_remembered_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "REMEMBERED", 50)
    shared = Words(OURS["none"])
    for start in range(0, len(TEXTS), 20):
        same(shared, TEXTS[start : start + 20])
    assert 50 <= len(shared.known) < 600


def test_models_whose_words_depend_on_their_neighbours_are_found() -> None:
    for options in ({"model_type": "unigram"}, {"split_by_whitespace": False}, {"treat_whitespace_as_suffix": True}):
        assert not cuts_words_apart(wrapped({"model_type": "bpe", **options}))
    assert not cuts_words_apart(wrapped({"model_type": "bpe", "add_dummy_prefix": False}))
    assert cuts_words_apart(wrapped({"model_type": "bpe"}))


def wrapped(options: dict[str, Any]) -> Tokenizer:
    model = io.BytesIO()
    texts = [" ".join(text.split()) + " ka ro mi ka ro mi" for text in TEXTS]
    trainer = sentencepiece.SentencePieceTrainer
    trainer.train(sentence_iterator=iter(texts), model_writer=model, vocab_size=120, minloglevel=2, **options)
    return Tokenizer(Source(kind="wrapped", model=model.getvalue()))


def test_french_news_are_cut_the_same_with_the_labs_model(shared_data: Path) -> None:
    lab = Tokenizer.load(shared_data / "lab")
    assert cuts_words_apart(lab)
    shared = Words(lab)
    with lzma.open(shared_data / "french" / "news_orangesum.txt.xz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n") for line in islice(lines, 600)]
    for start in range(0, len(texts), 100):
        same(shared, texts[start : start + 100])


@given(texts=st.lists(odd_texts, max_size=4))
def test_the_labs_model_cuts_odd_texts_the_same(shared_data: Path, texts: list[str]) -> None:
    if not _LAB:
        _LAB.append(Tokenizer.load(shared_data / "lab"))
    same(Words(_LAB[0]), texts)


_LAB: list[Tokenizer] = []


def same(shared: Words, texts: list[str]) -> None:
    assert [ids.tolist() for ids in shared.encode(texts)] == [shared.tokenizer.encode(text) for text in texts]

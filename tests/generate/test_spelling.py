"""Text is given out in whole characters, and joined it is what the tokenizer decodes."""

import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceTrainer

from headstart.generate.spelling import WINDOW, Speller
from headstart.text.pieces.source import Source
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

TOKENIZER = train_tokenizer(["the cat sat on the mat", "a dog and a cat"] * 20, 300)


def spelt(prompt: list[int], ids: Sequence[int]) -> list[str]:
    speller = Speller(TOKENIZER, prompt)
    return [speller.add(id) for id in ids]


def test_an_emoji_comes_whole_with_its_last_byte() -> None:
    ids = TOKENIZER.encode("a 😀é")
    parts = spelt([0], ids)
    assert "".join(parts) == "a 😀é"
    assert [part for part in parts if part] == ["a", " ", "😀", "é"]


def test_the_space_between_prompt_and_text_is_kept() -> None:
    assert "".join(spelt(TOKENIZER.encode("the"), TOKENIZER.encode("cat"))) == " cat"
    assert "".join(spelt([0], TOKENIZER.encode("cat"))) == "cat"


letters = st.text(st.sampled_from("the cat😀é▁\ufffd\n "), max_size=30)
loose_bytes = st.lists(st.sampled_from([0xF0, 0x9F, 0x98, 0x80, 0xE2, 0x96, 0x81, 0x41, 0xEF, 0xBF, 0xBD]), max_size=12)


@given(letters, st.lists(st.one_of(letters, loose_bytes), max_size=6))
def test_what_is_spelt_is_what_is_decoded(prompt: str, pieces: list[str | list[int]]) -> None:
    beginning, ids = TOKENIZER.encode(prompt), []
    for piece in pieces:
        ids += TOKENIZER.encode(piece) if isinstance(piece, str) else [TOKENIZER.byte_ids[byte] for byte in piece]
    parts = spelt(beginning, [*ids, *TOKENIZER.encode("a")])  # no character is open at the end
    assert TOKENIZER.decode(beginning) + "".join(parts) == TOKENIZER.decode([*beginning, *ids, *TOKENIZER.encode("a")])


def test_half_a_character_is_never_shown() -> None:
    half = [TOKENIZER.byte_ids[byte] for byte in "😀".encode()[:3]]
    assert spelt([0], half) == ["", "", ""]
    assert "".join(spelt([0], [*half, *TOKENIZER.encode("cat")])) == "\ufffd\ufffd\ufffd cat"
    assert spelt([0], [*half, *TOKENIZER.encode("a"), half[1]])[-1] == "\ufffd", "nothing waits behind another token"
    assert spelt([0], [TOKENIZER.byte_ids[0xFF]]) == ["\ufffd"], "no character begins so"
    assert "".join(spelt([0], TOKENIZER.encode("\ufffd"))) == "\ufffd", "a character like any other"


def test_a_tokenizer_of_others_that_drops_spaces_at_the_start() -> None:
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "a dog and a cat"] * 20),
        model_writer=model, vocab_size=40, model_type="bpe", minloglevel=4,
    )  # fmt: skip
    wrapped = Tokenizer(Source(kind="wrapped", model=model.getvalue()))
    cat, space = wrapped.encode("cat"), next(id for id in range(wrapped.size) if wrapped.piece(id) == "▁")
    ids = [*cat, *[space] * 2 * WINDOW, *cat]
    speller = Speller(wrapped)
    assert "".join(speller.add(id) for id in ids) == wrapped.decode(ids)


def test_long_texts_are_spelt_through_a_window() -> None:
    text = "the cat   sat 😀 on the mat " * 40 + " " * 2 * WINDOW + "dog"
    ids = TOKENIZER.encode(text)
    assert len(ids) > 4 * WINDOW
    assert "".join(spelt([0], ids)) == text
    assert "".join(spelt(ids[:300], ids[300:])) == TOKENIZER.decode(ids)[len(TOKENIZER.decode(ids[:300])) :]

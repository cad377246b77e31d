"""Text is given out in whole characters, and joined it is what the tokenizer decodes."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from headstart.generate.spelling import WINDOW, Speller
from headstart.text.subwords import train_tokenizer

TOKENIZER = train_tokenizer(["the cat sat on the mat", "a dog and a cat"] * 20, 300)


def spelt(prompt: list[int], ids: Sequence[int]) -> list[str]:
    speller = Speller(TOKENIZER, prompt)
    return [*(speller.add(id) for id in ids), speller.rest()]


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
def test_what_is_spelt_is_what_is_decoded_and_never_taken_back(prompt: str, pieces: list[str | list[int]]) -> None:
    beginning, ids = TOKENIZER.encode(prompt), []
    for piece in pieces:
        ids += TOKENIZER.encode(piece) if isinstance(piece, str) else [TOKENIZER.byte_ids[byte] for byte in piece]
    whole = TOKENIZER.decode([*beginning, *ids])
    assert TOKENIZER.decode(beginning) + "".join(spelt(beginning, ids)) == whole


def test_long_texts_are_spelt_through_a_window() -> None:
    text = "the cat   sat 😀 on the mat " * 40 + " " * 2 * WINDOW + "dog"
    ids = TOKENIZER.encode(text)
    assert len(ids) > 4 * WINDOW
    assert "".join(spelt([0], ids)) == text
    assert "".join(spelt(ids[:300], ids[300:])) == TOKENIZER.decode(ids)[len(TOKENIZER.decode(ids[:300])) :]

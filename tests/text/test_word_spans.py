"""Words by their spans."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.text.words import same_word, words


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'homme, c'est-à-dire lui !", ["L", "homme", "c", "est", "à", "dire", "lui"]),
        ("e\u0301te\u0301 42 snake_case", ["e\u0301te\u0301", "42", "snake_case"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("… — ! _", []),
        ("", []),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@given(st.text())
def test_spans_are_in_order_and_every_letter_is_in_one(text: str) -> None:
    spans = list(words(text))
    assert all(start < end for start, end in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    covered = {place for span in spans for place in range(*span)}
    assert {place for place, letter in enumerate(text) if letter.isalnum()} <= covered


def test_spellings_of_one_word() -> None:
    assert same_word("ÉTÉ") == same_word("e\u0301te\u0301")
    assert same_word("straße") == same_word("STRASSE")

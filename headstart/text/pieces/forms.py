"""Unicode forms: one spelling for texts that look the same."""

import unicodedata
from typing import Literal, cast

Form = Literal["none", "nfc", "nfkc"]
FORMS: tuple[Form, ...] = ("none", "nfc", "nfkc")


def to_form(text: str, form: Form) -> str:
    return text if form == "none" else unicodedata.normalize(_standard(form), text)


def origins(text: str, form: Form) -> list[tuple[int, int]]:
    """For each character of `to_form(text, form)`, the span of `text` that it came from."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not _joins(text[end]):
            spans += [(start, end)] * len(to_form(text[start:end], form))
            start = end
    whole = len(to_form(text, form))
    return spans if len(spans) == whole else [(0, len(text))] * whole


def _joins(character: str) -> bool:
    """Whether a form may merge this character with the ones before it: accents, Hangul vowels and finals."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first).startswith("M") or "\u1160" <= first <= "\u11ff"


def _standard(form: Form) -> Literal["NFC", "NFKC"]:
    return cast(Literal["NFC", "NFKC"], form.upper())

"""A very long text cut where it does not change the ids: SentencePiece needs 50 bytes for each character."""

from collections.abc import Iterator
from itertools import islice

from headstart.text.tokenizer import Tokenizer

LONGEST = 1_000_000  # characters encoded at once
_AROUND = 100  # characters on each side of a cut that are tried
_TRIES = 20


def cut(text: str, tokenizer: Tokenizer, longest: int = LONGEST) -> Iterator[str]:
    """Texts whose ids, put together, are those of `text`.

    A text without spaces is cut all the same: there a word may come out otherwise.
    """
    start = 0
    while len(text) - start > longest:
        end, following = _joint(text, start, start + longest, tokenizer)
        yield text[start:end]
        start = following
    yield text[start:]


def _joint(text: str, start: int, end: int, tokenizer: Tokenizer) -> tuple[int, int]:
    """Where the left side ends and the right side starts: at a space, which goes if encoding brings it back."""
    for space in islice(_spaces(text, (start + end) // 2, end), _TRIES):
        left, right = text[max(start, space - _AROUND) : space], text[space + 1 : space + 1 + _AROUND]
        whole, ids = tokenizer.encode(f"{left} {right}"), tokenizer.encode(left)
        if ids + tokenizer.encode(right) == whole:
            return space, space + 1
        if ids + tokenizer.encode(f" {right}") == whole:
            return space, space
    return end, end


def _spaces(text: str, start: int, end: int) -> Iterator[int]:
    """Single spaces between two words, from the last to the first."""
    while (end := text.rfind(" ", start, end)) > 0:
        if not (text[end - 1].isspace() or text[end + 1 : end + 2].isspace()):
            yield end

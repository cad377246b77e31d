"""Tokens to text while they come: only whole characters are given out, and what was given out stays."""

from collections.abc import Sequence

from headstart.text.tokenizer import Tokenizer

WINDOW = 64  # tokens decoded together at most; the last half of them goes on with the next ones
BROKEN = "\ufffd"


class Speller:
    """Spells what follows a prompt. Its outputs, joined, are what the tokenizer decodes after the prompt.

    A character may be spelt in up to four bytes, each a token; until the last one comes they decode as U+FFFD.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int] = ()):
        self.tokenizer, self.ids = tokenizer, list(prompt)
        self.text = self.given = tokenizer.decode(self.ids)  # of `ids`, as far as known and as far as given out

    def add(self, id: int) -> str:
        """The characters that this token completes."""
        if len(self.ids) >= WINDOW:
            self._forget()
        self.ids.append(id)
        self.text = self.tokenizer.decode(self.ids)
        unsure = min(len(self.text) - len(self.text.rstrip(BROKEN)), 3)
        return self._give(self.text[: len(self.text) - unsure])

    def rest(self) -> str:
        """What is left at the end: bytes that never became a character."""
        return self._give(self.text)

    def _give(self, sure: str) -> str:
        new = sure[len(self.given) :]
        self.given += new
        return new

    def _forget(self) -> None:
        """Cut off the beginning, where the rest shows that it begins with a visible character.

        SentencePiece drops the space before the first word, and it must not take a later one for that.
        """
        tail = self.ids[-WINDOW // 2 :]
        text, waiting = self.tokenizer.decode(tail), len(self.text) - len(self.given)
        if text.strip():
            self.ids, self.text, self.given = tail, text, text[: len(text) - waiting]

"""Tokens to text while they come: only whole characters are given out, and what was given out stays."""

import codecs
from collections.abc import Sequence

from headstart.text.tokenizer import Tokenizer

WINDOW = 64  # tokens decoded together at most; the last half of them goes on with the next ones


class Speller:
    """Spells what follows a prompt. Its outputs, joined, are what the tokenizer decodes after the prompt.

    A character may be spelt in up to four bytes, each a token. Until the last one comes they decode as U+FFFD each
    and are held back, for ever if it never comes; bytes that no character can begin with are given out as U+FFFD.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int] = ()):
        self.tokenizer, self.ids = tokenizer, list(prompt)
        self.given = tokenizer.decode(self.ids)
        self.bytes = {id: bytes.fromhex(tokenizer.piece(id)[3:5]) for id in {*tokenizer.byte_ids} - tokenizer.specials}
        self.character = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, id: int) -> str:
        """The characters that this token completes."""
        if len(self.ids) >= WINDOW:
            self._forget()
        self.ids.append(id)
        text, held = self.tokenizer.decode(self.ids), self._held(id)
        new = text[len(self.given) : len(text) - held]
        self.given += new
        return new

    def _held(self, id: int) -> int:
        """Bytes up to this one that wait for the end of their character."""
        if id not in self.bytes:
            self.character.reset()
            return 0
        self.character.decode(self.bytes[id])
        return len(self.character.getstate()[0])

    def _forget(self) -> None:
        """Cut off the beginning, if the rest has a visible character.

        SentencePiece drops the space before the first word, and it must not take a later one for that.
        """
        tail = self.ids[-WINDOW // 2 :]
        text, held = self.tokenizer.decode(tail), len(self.character.getstate()[0])
        if text.strip():
            self.ids, self.given = tail, text[: len(text) - held]

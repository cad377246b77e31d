"""A typed `<mask>` becomes a gap: the one place where text turns into a special id."""

from itertools import groupby

from headstart.errors import TokenizerError
from headstart.text.tokenizer import Tokenizer

MASK = "<mask>"
_SPACE = "\u2581"  # SentencePiece writes a space so
_STAND_INS = [chr(code) for code in range(0xFDD0, 0xFDF0)]  # Unicode promises that these are never characters


class Gaps:
    """Texts with `<mask>` in them, to ids.

    A stand-in that no piece holds goes through the tokenizer in place of `<mask>`, so that the text around a gap is
    cut as it would be around a word that the tokenizer does not know.
    """

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer, self.mask = tokenizer, tokenizer.mask
        known = set().union(*(tokenizer.piece(id) for id in range(tokenizer.size)))
        self.stand_ins = [sign for sign in _STAND_INS if sign not in known]

    def encode(self, text: str) -> list[int]:
        """Ids without specials around them. The space before a gap goes: the piece to be guessed brings its own."""
        stand_in = next((sign for sign in self.stand_ins if sign not in text), "")
        if not stand_in:
            raise TokenizerError("the text holds every code that could stand in for a <mask>; take some of them out")
        marked = text.replace(MASK, stand_in)
        ids: list[int] = []
        before = (-1, -1)
        for id, span in zip(self.tokenizer.encode(marked), self.tokenizer.spans(marked)):
            covered = marked[slice(*span)]
            if stand_in not in covered:
                ids.append(id)
            elif span != before:  # else one more byte of the same stand-in
                ids = self._without_space(ids) if covered[0] == stand_in else ids
                ids += self._filled(covered, stand_in)
            before = span
        if ids.count(self.mask) != text.count(MASK):
            raise TokenizerError("this tokenizer changes the text around a <mask>, so that its place is lost")
        return ids

    def _without_space(self, ids: list[int]) -> list[int]:
        return ids[:-1] if ids and self.tokenizer.piece(ids[-1]) == _SPACE else ids

    def _filled(self, covered: str, stand_in: str) -> list[int]:
        """A tokenizer without bytes makes one `<oov>` of neighbouring unknown characters: taken apart again."""
        found: list[int] = []
        for gap, run in groupby(covered, key=stand_in.__eq__):
            found += [self.mask] * len(list(run)) if gap else [self.tokenizer.oov]
        return found

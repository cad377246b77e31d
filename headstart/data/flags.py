"""What the spelling of a piece tells about words and sentences: a flag for each id."""

import numpy as np

from headstart.text.tokenizer import Tokenizer

_SPACE = "\u2581"  # SentencePiece writes a space so
_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।")
_CLOSING = "\"'»”’)]"


def starts_word(tokenizer: Tokenizer) -> np.ndarray:
    """True for pieces that begin with a space; the others go on with a word."""
    return _flags(tokenizer, [piece.startswith(_SPACE) for piece in _pieces(tokenizer)])


def ends_sentence(tokenizer: Tokenizer) -> np.ndarray:
    """True for pieces that end with a full stop or its like, closing quotes aside; an abbreviation deceives it."""
    return _flags(tokenizer, [piece.rstrip(_CLOSING).endswith(_STOPS) for piece in _pieces(tokenizer)])


def _pieces(tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.piece(id) for id in range(tokenizer.size)]


def _flags(tokenizer: Tokenizer, flags: list[bool]) -> np.ndarray:
    """No special token is part of a sentence."""
    marked = np.array(flags, bool)
    marked[list(tokenizer.specials)] = False
    return marked

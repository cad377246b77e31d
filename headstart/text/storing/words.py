"""A shorter way to the same ids: in most models the cut of a word does not depend on its neighbours."""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

import numpy as np

from headstart.text.pieces.forms import to_form
from headstart.text.tokenizer import Tokenizer

MARK = "\u2581"  # SentencePiece writes a space so
REMEMBERED = 1 << 18  # words, some 50 MB
LONGEST_WORD = 32  # characters, to be remembered
_TRIALS = ("a b", "a  b", " a", "a\u00a0 b", "a \u00a8 b", "x\u200b y", "l’été d'après, 1 2.")


class Words:
    """Remembers the ids of words, as bytes, which are joined faster than anything else in Python.

    More than twice as fast as SentencePiece on one core. It holds the interpreter, so more threads hardly help.
    Threads may share one: a word that was learnt is never forgotten.
    """

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.known: dict[str, bytes] = {}
        self.starts = np.array([tokenizer.piece(id).startswith(MARK) for id in range(tokenizer.size)])

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The ids that `tokenizer.encode` gives for each text, if `cuts_words_apart(tokenizer)`."""
        form = self.tokenizer.source.normalise
        cut = [words_of(to_form(text, form)) for text in texts]
        known: dict[str, bytes] = {}
        new: list[str] = []
        for word in set(chain.from_iterable(cut)):
            if (ids := self.known.get(word)) is None:
                new.append(word)
            else:
                known[word] = ids
        known.update(self._learn(new))
        return [np.frombuffer(b"".join(map(known.__getitem__, words)), np.uint32) for words in cut]

    def _learn(self, words: list[str]) -> dict[str, bytes]:
        plain = [word for word in words if _is_plain(word)]
        learnt = self._in_one(plain)
        others = [word for word in words if word not in learnt]
        for word, ids in zip(others, self.tokenizer.encode_batch(others, threads=1)):
            learnt[word] = np.array(ids, np.uint32).tobytes()
        if len(self.known) < REMEMBERED:
            self.known.update({word: ids for word, ids in learnt.items() if len(word) <= LONGEST_WORD})
        return learnt

    def _in_one(self, words: list[str]) -> dict[str, bytes]:
        """Many words in one text are quicker than one by one; a piece that starts with a space starts the next."""
        ids = np.array(self.tokenizer.encode(" ".join(words)), np.uint32)
        starts = np.flatnonzero(self.starts[ids])
        if len(starts) != len(words):
            return {}
        whole, ends = ids.tobytes(), [*(starts * ids.itemsize).tolist(), ids.nbytes]
        return {word: whole[start:end] for word, (start, end) in zip(words, pairwise(ends))}


def words_of(text: str) -> list[str]:
    """Parts whose ids, put together, are those of the text. Each lost the one space before it.

    Encoding puts a space before every text, and so gives it back. Further spaces stay with the word after them.
    """
    if MARK in text or text.endswith(" "):
        return [text]
    words = text.split(" ")
    if "" not in words:
        return words
    whole, spaces = [], ""
    for word in words:
        if word:
            whole.append(spaces + word)
        spaces = "" if word else spaces + " "
    return whole


def cuts_words_apart(tokenizer: Tokenizer) -> bool:
    """True for byte pair models without a piece that goes on after a space: no merge can reach over one.

    The scores of such models are ranks. A unigram model adds up its scores along the whole text, and its
    rounding would show.
    """
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_proto=tokenizer.source.model)
    ids = [id for id in range(model.vocab_size()) if not (model.is_control(id) or model.is_unknown(id))]
    pieces = [model.id_to_piece(id) for id in ids]
    return (
        MARK in pieces
        and all(MARK not in piece.lstrip(MARK) for piece in pieces)
        and all(model.get_score(id).is_integer() for id in ids)
        and all(_same(trial, tokenizer) for trial in _TRIALS)
    )


def _same(trial: str, tokenizer: Tokenizer) -> bool:
    trial = to_form(trial, tokenizer.source.normalise)
    apart: Iterable[list[int]] = map(tokenizer.encode, words_of(trial))
    return list(chain.from_iterable(apart)) == tokenizer.encode(trial)


def _is_plain(word: str) -> bool:
    """No space in it, and none that a model's normalisation could bring in or take away."""
    visible = word.isprintable() and " " not in word and MARK not in word and word != ""
    return visible and unicodedata.is_normalized("NFKC", word)

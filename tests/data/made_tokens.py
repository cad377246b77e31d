"""Token stores without files, and a vocabulary without a model."""

from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import strategies as st

from headstart.text.store import Tokens
from headstart.text.tokenizer import Tokenizer

SOS, PAD, EOS, OOV, MASK, CLS, SEP = range(7)
SIZE = 200
VOCABULARY = cast(
    Tokenizer,
    SimpleNamespace(
        sos=SOS, pad=PAD, eos=EOS, oov=OOV, mask=MASK, cls=CLS, sep=SEP, size=SIZE, specials=frozenset(range(7))
    ),
)


def stored(texts: list[list[int]]) -> Tokens:
    documents = [[SOS, *text, EOS] for text in texts]
    lengths = np.array([len(document) for document in documents], np.int64)
    ids = np.array([id for document in documents for id in document], np.uint16)
    return Tokens(ids, np.cumsum(lengths) - lengths, len(ids))


def numbered(lengths: list[int]) -> Tokens:
    """Documents whose tokens all differ, so that each can be followed."""
    starts = 7 + np.cumsum([0, *lengths])
    return stored([list(range(start, start + length)) for start, length in zip(starts, lengths)])


document_lengths = st.lists(st.integers(1, 40), min_size=1, max_size=12)

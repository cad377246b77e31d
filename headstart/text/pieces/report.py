"""How well a tokenizer fits a set of texts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from headstart.text.records import Document
from headstart.text.tokenizer import Tokenizer

LONGEST = 10
BATCH = 1000  # texts


@dataclass(frozen=True, kw_only=True)
class TokenizerReport:
    """Rates are shares of the tokens; `never_used` counts pieces other than specials and bytes."""

    vocabulary: int
    texts: int
    characters: int
    bytes: int
    tokens: int
    characters_per_token: float
    bytes_per_token: float
    unknown: int
    unknown_rate: float
    byte_rate: float
    never_used: int
    longest: tuple[str, ...]


def report(tokenizer: Tokenizer, texts: Iterable[str | Document]) -> TokenizerReport:
    """Streams the texts; those of `.spm` documents are counted in the pieces that they came in."""
    counts = [0] * tokenizer.size
    seen = characters = size = 0
    for batch in _batches(texts):
        for document, ids in zip(batch, tokenizer.encode_documents(batch)):
            seen, characters = seen + 1, characters + len(document.text)
            size += len(document.text.encode("utf-8", "replace"))
            for id in ids:
                counts[id] += 1
    tokens, spelt = sum(counts), set(tokenizer.byte_ids)
    ordinary = [id for id in range(tokenizer.size) if id not in tokenizer.specials and id not in spelt]
    return TokenizerReport(
        vocabulary=tokenizer.size,
        texts=seen,
        characters=characters,
        bytes=size,
        tokens=tokens,
        characters_per_token=characters / max(tokens, 1),
        bytes_per_token=size / max(tokens, 1),
        unknown=counts[tokenizer.oov],
        unknown_rate=counts[tokenizer.oov] / max(tokens, 1),
        byte_rate=sum(counts[id] for id in spelt) / max(tokens, 1),
        never_used=sum(not counts[id] for id in ordinary),
        longest=_longest([tokenizer.piece(id) for id in ordinary]),
    )


def _batches(texts: Iterable[str | Document]) -> Iterator[list[Document]]:
    documents = (Document(text, "", 0) if isinstance(text, str) else text for text in texts)
    while batch := list(islice(documents, BATCH)):
        yield batch


def _longest(pieces: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(pieces, key=lambda piece: (-len(piece), piece))[:LONGEST])

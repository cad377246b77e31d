"""Documents to ids on all cores: in order, and with little in memory at once."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from headstart.text.records import Document
from headstart.text.storing.long_texts import LONGEST, cut
from headstart.text.storing.words import Words, cuts_words_apart
from headstart.text.tokenizer import Tokenizer

CHARACTERS = 250_000  # a chunk is closed when it has so many
Marked = tuple[Document, bool]  # and whether it is held out
Ids = list[int] | np.ndarray
Encode = Callable[[list[str]], Sequence[Ids]]
FEW = 3  # threads


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some documents as ids: all ids end to end, then one entry per document in each column.

    A document without a single id has length 0, not even `<sos>` and `<eos>`.
    """

    ids: np.ndarray
    lengths: np.ndarray
    bytes: np.ndarray
    held: np.ndarray


def encoded(documents: Iterable[Marked], tokenizer: Tokenizer, workers: int) -> Iterator[Chunk]:
    """Chunks in the order of the documents.

    Threads, not processes: SentencePiece lets go of the interpreter while it works, so threads are as fast,
    share one model, and none is left behind when this process is killed. Few of them gain more from `Words`.
    """
    few = workers <= FEW and cuts_words_apart(tokenizer)
    encode = Words(tokenizer).encode if few else partial(tokenizer.encode_batch, threads=1)
    waiting: deque[Future[Chunk]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for chunk in _gathered(documents):
                waiting.append(pool.submit(_encode, chunk, tokenizer, encode))
                if len(waiting) > workers + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def id_type(size: int) -> np.dtype:
    """The smallest stored type that numbers a vocabulary of this size."""
    return np.dtype("<u2") if size <= 1 << 16 else np.dtype("<u4")


def _gathered(documents: Iterable[Marked]) -> Iterator[list[Marked]]:
    chunk: list[Marked] = []
    characters = 0
    for marked in documents:
        chunk.append(marked)
        characters += len(marked[0].text)
        if characters >= CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _encode(chunk: list[Marked], tokenizer: Tokenizer, encode: Encode) -> Chunk:
    documents = [document for document, _ in chunk]
    ids = _ids(documents, tokenizer, encode)
    lengths = np.array([len(each) + 2 if len(each) else 0 for each in ids], np.int64)
    return Chunk(
        ids=_joined(ids, lengths, tokenizer),
        lengths=lengths,
        bytes=np.array([len(each.text.encode("utf-8", "surrogatepass")) for each in documents], np.int64),
        held=np.array([held for _, held in chunk], bool),
    )


def _ids(documents: list[Document], tokenizer: Tokenizer, encode: Encode) -> list[Ids]:
    simple = [not document.pieces and len(document.text) <= LONGEST for document in documents]
    texts = iter(encode([document.text for document, is_simple in zip(documents, simple) if is_simple]))
    return [
        next(texts) if is_simple else _alone(document, tokenizer, encode)
        for document, is_simple in zip(documents, simple)
    ]


def _alone(document: Document, tokenizer: Tokenizer, encode: Encode) -> Ids:
    if document.pieces:
        return tokenizer.encode_document(document)
    return np.concatenate([encode([part])[0] for part in cut(document.text, tokenizer)])


def _joined(documents: Sequence[Ids], lengths: np.ndarray, tokenizer: Tokenizer) -> np.ndarray:
    joined = np.empty(lengths.sum(), id_type(tokenizer.size))
    for ids, end, length in zip(documents, np.cumsum(lengths), lengths):
        if length:
            joined[end - length] = tokenizer.sos
            joined[end - length + 1 : end - 1] = ids
            joined[end - 1] = tokenizer.eos
    return joined

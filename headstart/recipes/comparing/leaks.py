"""Which test rows were read before the test: in the labelled parts, or in the text that the body was pretrained on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from headstart.recipes.running.run_file import phases
from headstart.text.guard.facts import facts
from headstart.text.guard.findings import counts, find
from headstart.text.guard.parts import scan
from headstart.text.guard.sentences import sentences
from headstart.text.reading.corpus import Corpus
from headstart.text.records import Document, Reading, Row
from headstart.text.store import CARD, Tokens, open_store
from headstart.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Leaks:
    """`rows` are the numbers, from 0, of the test rows with a twin elsewhere; `corpus` says what was searched."""

    rows: frozenset[int]
    overlaps: dict[str, dict[str, int]]
    facts: dict[str, dict[str, Any]]
    sentences: tuple[str, ...]
    corpus: str


def find_leaks(
    train: Sequence[Row], valid: Sequence[Row], test: Sequence[Row], corpus: Iterator[Document] | None, searched: str
) -> Leaks:
    """`test` comes without labels: only its texts are looked at."""
    assert not any(row.label for row in test), "test labels stay closed until every arm is finished"
    parts = [scan(name, rows) for name, rows in (("train", train), ("valid", valid), ("test", test))]
    if corpus is not None:
        parts.insert(0, scan("corpus", corpus))
    found = find(parts)
    leaked = {
        int(row)
        for (_, second), twins in found.overlaps.items()
        if second == "test"
        for row in twins.found.nonzero()[0]
    }
    return Leaks(
        rows=frozenset(leaked),
        overlaps={"-".join(names): counts(found.parts[names[1]], twins) for names, twins in found.overlaps.items()},
        facts={part.name: facts(part) for part in parts},
        sentences=tuple(sentences(found)),
        corpus=searched,
    )


def pretraining_text(
    run: Path, files: Sequence[str], reading: Reading, tokenizer: Tokenizer, fingerprint: str
) -> tuple[Iterator[Document] | None, str]:
    """The corpus from its files, or else from the tokens that the run kept of it, and a phrase on which it is.

    A run that went on from another has read that one's text too.
    """
    if files:
        corpus = Corpus(files, reading)
        same = "the very one" if corpus.fingerprint() == fingerprint else "not the very one"
        return corpus.documents(), f"{', '.join(files)} ({same} that the body was pretrained on, by hash)"
    read = phases(run)
    kept = [phase for phase in read if (phase / "tokens" / CARD).is_file()]
    if not kept:
        return None, ""
    lost = len(read) - len(kept)
    missing = f"; the text of {lost} other phase(s) of its pretraining was not found" if lost else ""
    documents = chain.from_iterable(_stored(phase, tokenizer) for phase in kept)
    return documents, f"the tokens kept in {', '.join(str(phase / 'tokens') for phase in kept)}{missing}"


def _stored(run: Path, tokenizer: Tokenizer) -> Iterator[Document]:
    store = open_store(run / "tokens")
    return _decoded(run, tokenizer, store.train, store.valid)


def _decoded(run: Path, tokenizer: Tokenizer, *parts: Tokens) -> Iterator[Document]:
    for tokens in parts:
        for number in range(tokens.documents):
            text = tokenizer.decode(tokens.document(number).tolist())
            yield Document(text, f"{run / 'tokens'} document", number + 1)

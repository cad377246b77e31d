"""Train a tokenizer on a corpus, save it, and say how well it fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.text.pieces.forms import Form
from headstart.text.pieces.report import TokenizerReport, report
from headstart.text.pieces.sample import draw_sample
from headstart.text.pieces.saved import check_free
from headstart.text.readers import Corpus
from headstart.text.reading.archives import ignore
from headstart.text.reading.sources import USUAL
from headstart.text.records import Reading
from headstart.text.subwords import SAMPLE, check_vocabulary, train_on_sample


@dataclass(frozen=True, kw_only=True)
class NewTokenizer:
    """What was written, and the report on the part of the corpus that it was trained on."""

    folder: Path
    hash: str
    texts: int
    characters: int
    notes: tuple[str, ...]
    report: TokenizerReport


def open_corpus(
    paths: Sequence[str | Path], out: Path, *, vocabulary: int, reading: Reading = USUAL, force: bool = False
) -> Corpus:
    """Refuses what `train` would refuse, before anything is read: not even what is piped in."""
    check_free(out, force)
    check_vocabulary(vocabulary)
    return Corpus(paths, reading)


def train(
    corpus: Corpus,
    out: Path,
    *,
    vocabulary: int,
    normalise: Form = "none",
    sample: int = SAMPLE,
    seed: int = 0,
    force: bool = False,
    advance: Callable[[int], None] = ignore,
) -> NewTokenizer:
    """One pass over the corpus; `advance` is told the bytes read, of `corpus.bytes`."""
    check_free(out, force)
    check_vocabulary(vocabulary)
    drawn = draw_sample((document.text for document in corpus.documents(advance)), sample, seed)
    tokenizer = train_on_sample(drawn, vocabulary, normalise=normalise, seed=seed)
    tokenizer.save(out, overwrite=force)
    return NewTokenizer(
        folder=out,
        hash=tokenizer.hash,
        texts=drawn.texts,
        characters=drawn.characters,
        notes=tuple(note for note in (corpus.guess, tokenizer.training["note"]) if note),
        report=report(tokenizer, drawn.chunks),
    )

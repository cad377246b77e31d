"""The parts that a user names: from which files each is read, and how."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.errors import DataError
from headstart.text.readers import Corpus, read_rows
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.parallel import split_spec
from headstart.text.reading.sources import USUAL, Source, source_at
from headstart.text.records import Document, Reading


@dataclass(frozen=True, kw_only=True)
class Input:
    """`labels` are the files that run beside `sources` line by line; `note` is worth printing, or ""."""

    name: str
    sources: tuple[Source, ...]
    read: Callable[[Advance], Iterator[Document]]
    reading: Reading
    labels: tuple[Source, ...] = ()
    note: str = ""

    @property
    def bytes(self) -> int:
        return sum(source.size for source in (*self.sources, *self.labels))

    def documents(self, advance: Advance = ignore) -> Iterator[Document]:
        """Each call reads anew."""
        return self.read(advance)


def name_inputs(
    corpus: Sequence[str | Path] = (),
    train: str | Path = "",
    valid: str | Path = "",
    test: str | Path = "",
    reading: Reading = USUAL,
) -> tuple[Input, ...]:
    """In this order, those that are given; train, valid and test may have labels or not."""
    rows = {"train": train, "valid": valid, "test": test}
    named = [_row_input(name, spec, reading) for name, spec in rows.items() if str(spec)]
    if corpus:
        named.insert(0, _corpus_input(corpus, reading))
    if not named:
        raise DataError("nothing to check; give at least one of --corpus, --train, --valid and --test")
    return tuple(named)


def _corpus_input(paths: Sequence[str | Path], reading: Reading) -> Input:
    corpus = Corpus(paths, reading)
    note = f"corpus: {corpus.guess}" if corpus.guess else ""
    return Input(name="corpus", sources=corpus.sources, read=corpus.documents, reading=reading, note=note)


def _row_input(name: str, spec: str | Path, reading: Reading) -> Input:
    halves = split_spec(spec)
    if "-" in halves:
        raise DataError(f"--{name} {spec}: this file is read twice, which a pipe can't be; save it and give its name")

    def read(advance: Advance) -> Iterator[Document]:
        return read_rows(spec, reading, labelled=False, advance=advance)

    if len(halves) == 1 and Path(spec).is_dir():
        return Input(name=name, sources=Corpus([spec], reading).sources, read=read, reading=reading)
    texts, *labels = (source_at(half) for half in halves)
    return Input(name=name, sources=(texts,), read=read, reading=reading, labels=tuple(labels))

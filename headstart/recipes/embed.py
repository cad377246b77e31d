"""Texts in, vectors out, in the order of the texts and in flat memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.checkpoint import Saved, load
from headstart.model.models import Pooling
from headstart.recipes.vectors.file import check_out, vector_file, with_vector, written_to
from headstart.recipes.vectors.of_texts import TextVectors
from headstart.recipes.vectors.of_words import WordVectors
from headstart.recipes.vectors.source import Of, Reading, VectorSource, body_of, choose_pooling
from headstart.text.records import Row
from headstart.train.device import choose_device


@dataclass(frozen=True)
class Embedded:
    """What was written. `long` texts exceed the context: cut for a vector a text, read in windows for words."""

    of: Of
    pooling: Pooling
    texts: int
    long: int
    vectors: int
    width: int
    written: tuple[Path, ...]


def embed(
    run: Path,
    rows: Iterable[Row],
    out: Path,
    *,
    of: Of = "texts",
    pooling: Reading = "auto",
    inputs: Sequence[Path] = (),
    force: bool = False,
    device: str = "cpu",
) -> Embedded:
    """Write the vectors of texts, or of each word in them, to a file that appears whole or not at all.

    `inputs` are the files or folders that the rows are read from: they are not written over, even by `force`.
    """
    check_out(out, of, inputs, force=force)
    saved, chosen, source = _open(run, rows, of, pooling, device)
    count, width = 0, saved.card.shape.width
    with vector_file(out, of, width) as file:
        for block in source.blocks():
            file.add(block)
            count += len(block.table)
    return Embedded(of, chosen, source.texts, source.long, count, width, written_to(out, of))


def embed_lines(
    run: Path, rows: Iterable[Row], *, of: Of = "texts", pooling: Reading = "auto", device: str = "cpu"
) -> Iterator[dict[str, Any]]:
    """The same, one table for each vector, for a pipe."""
    _, _, source = _open(run, rows, of, pooling, device)
    for block in source.blocks():
        for use, vector in zip(block.uses, block.table):
            yield with_vector(use, vector, of)


def _open(run: Path, rows: Iterable[Row], of: Of, pooling: Reading, device: str) -> tuple[Saved, Pooling, VectorSource]:
    saved = load(run, choose_device(device))
    body_of(saved)
    chosen = choose_pooling(saved, of, pooling)
    made: VectorSource = (TextVectors if of == "texts" else WordVectors)(saved, rows, chosen)
    return saved, chosen, made

"""A corpus becomes a token store: built once, reused while nothing changes."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from headstart.errors import ConfigError, DataError
from headstart.folder import is_occupied, whole_folder
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.corpus import Corpus
from headstart.text.store import CARD, Card, Origin, Store, file_names, open_store
from headstart.text.storing.chunks import encoded, id_type
from headstart.text.storing.holdout import choice, marked
from headstart.text.storing.partial import PROGRESS, Partial, refuse_strangers
from headstart.text.tokenizer import Tokenizer
from headstart.whole import sha256

WORKERS = min(os.cpu_count() or 1, 16)  # more threads would wait for the interpreter


def build_store(
    corpus: Corpus,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    holdout: float = 0.01,
    workers: int = WORKERS,
    advance: Advance = ignore,
    say: Callable[[str], None] = lambda sentence: None,
) -> Store:
    """The corpus as ids in `folder`, `holdout` of its documents set apart for validation.

    An unfinished run lies in FOLDER.part and is continued; its bytes are those of a run in one go.
    `say` hears why the store is built, rebuilt or reused; `advance` counts the corpus bytes consumed.
    """
    if not 0.0 <= holdout < 1.0:
        raise ConfigError(f"holdout is {holdout}; give the share of documents to validate on, such as 0.01")
    origin = Origin(
        tokenizer=tokenizer.hash,
        corpus=corpus.fingerprint(),
        holdout=holdout,
        dtype=id_type(tokenizer.size).name,
    )
    reason = why_build(folder, origin)
    if not reason:
        say(f"{folder}: tokens reused, nothing has changed")
        return open_store(folder)
    say(f"{folder}: {reason}")
    with (
        _all_or_nothing(corpus, folder, advance) as counted,
        Partial(_part_folder(folder), origin, tokenizer.oov) as partial,
    ):
        held = choice(corpus.documents(), holdout, say)
        documents = marked(corpus.documents(counted), holdout, held)
        for chunk in encoded(islice(documents, partial.taken, None), tokenizer, workers):
            partial.add(chunk)
        _finish(folder, partial)
    return open_store(folder)


def why_build(folder: Path, origin: Origin) -> str:
    """Why the store in `folder` cannot be reused; "" if it can."""
    if not is_occupied(folder):
        continued = (_part_folder(folder) / PROGRESS).exists()
        return "tokens are built, going on where an earlier run was stopped" if continued else "tokens are built"
    if not (folder / CARD).exists():
        raise DataError(f"{folder} holds something else than tokens; choose another folder")
    try:
        card = open_store(folder).card
    except DataError as problem:
        return f"tokens are built again: {problem}"
    changed = [words for name, words in _CHANGES.items() if getattr(card, name) != getattr(origin, name)]
    return f"tokens are built again: {' and '.join(changed)}" if changed else ""


_CHANGES = {
    "corpus": "the corpus has changed",
    "tokenizer": "the tokenizer has changed",
    "holdout": "another share is held out",
    "format": "they were written by another version",
}


def _finish(folder: Path, partial: Partial) -> None:
    """Move the files to where they belong, with a card that vouches for them."""
    partial.finish()
    if not partial.train.card.documents:
        raise DataError("the corpus holds no text that gives a single id")
    card = Card(
        **asdict(partial.origin),
        skipped=partial.skipped,
        train=partial.train.card,
        valid=partial.valid.card,
        files={name: sha256(partial.folder / name) for name in file_names()},
    )
    with whole_folder(folder, CARD) as fresh:
        for name in file_names():
            (partial.folder / name).rename(fresh / name)
        (fresh / CARD).write_text(json.dumps(asdict(card), indent=2) + "\n", "utf-8")
    shutil.rmtree(partial.folder)


@contextmanager
def _all_or_nothing(corpus: Corpus, folder: Path, advance: Advance) -> Iterator[Advance]:
    """After an error nothing is left behind; after a kill, what the next run can go on from.

    Yields an `advance` that also counts, so that a full disk can be told how much is needed.
    """
    consumed = 0

    def counted(more: int) -> None:
        nonlocal consumed
        consumed += more
        advance(more)

    part = _part_folder(folder)
    refuse_strangers(part)
    try:
        yield counted
    except Exception as problem:
        written = sum(file.stat().st_size for file in part.glob("*"))
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
            share = max(consumed, 1) / max(corpus.bytes, 1)  # of the corpus; a little more than is written
            raise _full_disk(folder, 1.25 * max(written, written / share)) from None
        raise


def _full_disk(folder: Path, needed: float) -> DataError:
    free = shutil.disk_usage(folder.parent).free
    return DataError(
        f"{folder}: the disk is full: the tokens need about {needed / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB "
        "are free. Make room there, or choose another folder with --out"
    )


def _part_folder(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.part")

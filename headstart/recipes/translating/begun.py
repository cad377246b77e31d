"""The tokenizers of a run that has not begun yet lie aside, so that an older run in its place stays whole till then."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headstart.checkpoint import SOURCE_TOKENIZER, TOKENIZER
from headstart.train.device import Workers


@contextmanager
def fresh_tongues(out: Path, resume: bool, workers: Workers) -> Iterator[Path]:
    """Where a run trains its tokenizers: aside, until nothing can be found wrong any more with what it is made from.

    Till then an older run stays as it is; `settle` puts them in its place.
    """
    aside = out / "begun"
    try:
        yield out if resume else aside
    finally:
        if workers.first:
            shutil.rmtree(aside, ignore_errors=True)  # also what a killed run left there


def settle(aside: Path, out: Path) -> None:
    for name in (TOKENIZER, SOURCE_TOKENIZER):
        if (aside / name).exists():
            (aside / name).replace(out / name)

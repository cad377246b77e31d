"""The tokenizer that a pretraining or a translator trains for itself, where none was named."""

from collections.abc import Iterator
from pathlib import Path

from headstart.errors import RunError
from headstart.recipes.running.run_file import RUN_FILE
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import Workers


def own_tokenizer(texts: Iterator[str], folder: Path, size: int, workers: Workers) -> Tokenizer:
    """Trained by the first worker and kept in `folder`, in the run; a run that goes on finds it there.

    What a run left behind before it had its run file may be of other texts or of another size: it is trained anew.
    """
    begun = (folder.parent / RUN_FILE).is_file()
    if begun and not folder.exists():
        raise RunError(
            f"{folder.parent}: cannot go on, this run has no {folder.name} of its own, but one is asked for now. "
            "Name the tokenizers that it began with, or start anew in another --out"
        )
    if workers.first and not begun:
        train_tokenizer(texts, size).save(folder, overwrite=True)
    workers.wait()
    return Tokenizer.load(folder)

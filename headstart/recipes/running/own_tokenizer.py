"""The tokenizer that a pretraining or a translator trains for itself, where none was named."""

from collections.abc import Iterator
from pathlib import Path

from headstart.recipes.running.run_file import RUN_FILE
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import Workers


def own_tokenizer(texts: Iterator[str], folder: Path, size: int, workers: Workers) -> Tokenizer:
    """Trained by the first worker and kept in `folder`, in the run; a run that goes on finds it there.

    What a run left behind before it had its run file may be of other texts or of another size: it is trained anew.
    """
    if workers.first and not (folder.exists() and (folder.parent / RUN_FILE).is_file()):
        train_tokenizer(texts, size).save(folder, overwrite=True)
    workers.wait()
    return Tokenizer.load(folder)

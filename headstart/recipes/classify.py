"""The job behind `headstart finetune`: files in, a classifier out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headstart.checkpoint import load
from headstart.errors import DataError
from headstart.recipes.finetune import Epoch, FineTuned, finetune
from headstart.recipes.labels import label_names, split_off
from headstart.recipes.pretraining.second_phase import refuse_own_child
from headstart.recipes.running.occupied import clear_run, refuse_cleared, refuse_occupied
from headstart.recipes.running.training import ignore
from headstart.recipes.second_texts import check_seconds, seconds
from headstart.recipes.self_train import self_train
from headstart.recipes.settings import Settings
from headstart.text.readers import Corpus, read_labelled
from headstart.text.records import Row
from headstart.text.tokenizer import Tokenizer
from headstart.train.board import check_installed
from headstart.train.device import join_workers
from headstart.train.loop import Step


def finetune_files(
    train: str,
    valid: str,
    out: Path,
    *,
    start: Path | None,
    settings: Settings,
    unlabelled: Sequence[str] = (),
    tokenizer: Path | None = None,
    causal: bool = True,
    seed: int = 0,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    tensorboard: bool = False,
    say: Callable[[str], None] = ignore,
    watch: Callable[[Step | Epoch], None] = ignore,
    begin: Callable[[int, int], None] = lambda steps, done: None,
) -> FineTuned:
    """Without `valid`, a part of the training rows is held out to choose the epoch on.

    Without `start`, the body is fresh, and `causal` or not. With `unlabelled` files it learns from guesses, too.
    """
    if start is not None:
        refuse_own_child(out, start)
    if tensorboard:
        check_installed()
    first = join_workers(device).first
    if first:
        refuse_occupied(out, force=force, resume=resume)
    if not resume:
        refuse_cleared(out, tokenizer)
    rows = every = read_labelled(train, settings.reading)
    if valid:
        held = read_labelled(valid, settings.reading)
        check_seconds(held, seconds(every))
    else:
        rows, held = split_off(rows, settings.finetune.holdout)
        say(f"No --valid: {len(held):,} of {len(rows) + len(held):,} rows are held out to choose the epoch on.")
        if not held:
            raise DataError(f"{train}: too few rows to hold some out; give --valid FILE")
    more = list(Corpus(unlabelled, settings.reading).documents()) if unlabelled else []
    cutter = _tokenizer(start, tokenizer, causal, rows, settings, say)
    if first and force and not resume:
        clear_run(out)
    how: dict[str, Any] = {
        "start": start,
        "out": out,
        "settings": settings,
        "tokenizer": cutter,
        "labels": label_names(rows),
        "among": every,
        "causal": causal,
        "seed": seed,
        "device": device,
        "resume": resume,
        "save_every": settings.train.save_every,
        "tensorboard": tensorboard,
        "watch": watch,
        "begin": begin,
    }
    return self_train(rows, held, unlabelled=more, say=say, **how) if unlabelled else finetune(rows, held, **how)


def _tokenizer(
    start: Path | None,
    given: Path | None,
    causal: bool,
    rows: list[Row],
    settings: Settings,
    say: Callable[[str], None],
) -> Tokenizer:
    """The run's own; from scratch the one that was named, or one trained on the training texts."""
    if start is not None:
        return load(start).tokenizer
    if given is not None:
        found = Tokenizer.load(given)
        return found if causal else found.with_bidirectional()
    from headstart.text.subwords import train_tokenizer

    say(f"No --tokenizer: one of at most {settings.model.vocabulary:,} pieces is trained on the training texts.")
    texts = (text for row in rows for text in (row.text, row.text_b) if text)
    return train_tokenizer(texts, settings.model.vocabulary)

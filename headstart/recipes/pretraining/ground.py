"""The ground that a pretraining stands on: a tokenizer, a shape that fits it, and the corpus as tokens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from headstart.checkpoint import TOKENIZER, Saved
from headstart.errors import ConfigError
from headstart.model.shape import Shape
from headstart.recipes.pretraining.objectives import Objective
from headstart.recipes.running.own_tokenizer import own_tokenizer
from headstart.recipes.settings import Settings
from headstart.text.reading.corpus import Corpus
from headstart.text.store import Store, open_store
from headstart.text.stream import build_store
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import Workers

Say = Callable[[str], None]
ShowReading = Callable[[int], AbstractContextManager[Callable[[int], None]]]


def check_windows(settings: Settings, objective: Objective, shape: Shape) -> None:
    """Refuse windows that this objective or shape cannot read, before anything is written."""
    length = settings.data.length
    if length > shape.context:
        raise ConfigError(
            f"data.length is {length}, but model.context only {shape.context}; type --set data.length={shape.context}"
        )
    if length < objective.shortest:
        raise ConfigError(f"data.length is {length}, but the objective {objective.name} needs {objective.shortest}")
    if settings.data.across and not objective.packs:
        raise ConfigError(f"data.across: the objective {objective.name} reads one document at a time; leave it out")


def prepare_tokenizer(
    given: Path | None,
    objective: Objective,
    corpus: Corpus,
    out: Path,
    settings: Settings,
    workers: Workers,
    say: Say,
) -> Tokenizer:
    """The tokenizer that was named, or one trained on the corpus and kept in the run.

    To look both ways takes `<mask> <cls> <sep>`, which are appended where it has none.
    """
    if given is not None:
        found = Tokenizer.load(given)
        return found if objective.causal else found.with_bidirectional()
    size = settings.model.vocabulary
    return own_tokenizer(_told(corpus, size, say), out / TOKENIZER, size, workers)


def _told(corpus: Corpus, size: int, say: Say) -> Iterator[str]:
    """The texts of a corpus; that they are read for a tokenizer is said when it begins."""
    say(f"Training a tokenizer of {size:,} pieces on the corpus.")
    yield from (document.text for document in corpus.documents())


def fit_settings(
    settings: Settings, tokenizer: Tokenizer, objective: Objective, parent: Saved | None, say: Say
) -> Settings:
    """The shape is the parent's, or else that of the settings with the tokenizer's vocabulary."""
    shape = parent.card.shape if parent else settings.model
    if tokenizer.size != shape.vocabulary:
        say(f"The tokenizer has {tokenizer.size:,} ids, so model.vocabulary is {tokenizer.size}.")
    shape = replace(shape, vocabulary=tokenizer.size, segments=max(shape.segments, objective.segments))
    return replace(settings, model=shape)


def prepare_store(
    corpus: Corpus,
    tokenizer: Tokenizer,
    folder: Path,
    holdout: float,
    workers: Workers,
    show_reading: ShowReading,
    say: Say,
) -> Store:
    """Encoded by the first worker, read by all."""
    if workers.first:
        with show_reading(corpus.bytes) as advance:
            build_store(corpus, tokenizer, folder, holdout=holdout, advance=advance, say=say)
    workers.wait()
    return open_store(folder)

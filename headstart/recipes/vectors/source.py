"""What a body makes of a text, as vectors that a program can use."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from headstart.checkpoint import Saved
from headstart.errors import CheckpointError, ConfigError
from headstart.model.body import Body
from headstart.model.models import Pooling

Of = Literal["texts", "words"]
Reading = Literal["auto", "cls", "mean", "last"]


@dataclass(frozen=True, slots=True)
class Use:
    """What a vector stands for: characters `start` to `end` of text `number`, both counted from 0.

    `before` and `after` are what stands around a word, where that was asked for.
    """

    number: int
    words: str
    start: int
    end: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Some vectors (N, D), float32, in the order of the texts, and what each stands for."""

    table: np.ndarray
    uses: list[Use]


class VectorSource(Protocol):
    """Vectors in blocks, so that a file of any length runs in flat memory; the counts grow meanwhile.

    `long` counts the texts that are longer than the context.
    """

    texts: int
    long: int

    def blocks(self) -> Iterator[Vectors]: ...


def body_of(saved: Saved) -> Body:
    if saved.card.task == "translate":
        raise CheckpointError(
            f"{saved.folder}: a translator reads texts for a writer of its own. Take vectors from a run of "
            "headstart pretrain or headstart finetune"
        )
    body = saved.model.get_submodule("body")
    assert isinstance(body, Body)
    return body


def choose_pooling(saved: Saved, of: Of, asked: Reading) -> Pooling:
    """What `auto` means, in the words of the model.

    A text: what the head of a classifier reads, else the mean, since nothing taught the last token, or `<cls>` in a
    masked run, to sum a text up; in a bert run `<cls>` learnt only whether the second text follows the first. A word of
    several pieces: their mean, or its last piece where only that one has seen the whole word.
    """
    causal = saved.card.causal
    if asked == "cls" and of == "words":
        raise ConfigError("--pooling cls is one vector for a whole text; for --of words choose mean or last")
    if asked == "cls" and causal:
        raise ConfigError(
            "--pooling cls: this body reads from left to right, has no <cls>, and its first token has seen nothing; "
            "choose mean or last"
        )
    if asked != "auto":
        return "first" if asked == "cls" else asked
    if of == "words":
        return "last" if causal else "mean"
    return saved.card.pooling if saved.card.task == "classify" else "mean"

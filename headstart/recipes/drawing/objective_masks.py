"""What a token may see under each way to pretrain."""

from itertools import cycle, islice
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from headstart.errors import ConfigError
from headstart.model.masks import causal_mask, padding_mask, real_positions, same_document_mask
from headstart.recipes.draw import TEXT, draw_mask
from headstart.report import figures

Objective = Literal["causal", "masked", "bert", "all"]


def draw_objective(out: Path, objective: Objective, *, length: int = 8) -> None:
    """The masks of one objective, or one of each, side by side."""
    if objective == "causal":
        draw_mask(out, length=length)
        return
    if not 7 <= length <= 64:
        raise ConfigError(f"--length {length} is too short or too long to show this; type --length 8")
    masks, title = {
        "masked": (_masked(length), "A token sees its whole text, what follows included; the hidden ones are guessed"),
        "bert": (_bert(length), "A token sees both texts; is the second the one that followed the first?"),
        "all": (_all(length), "What a token may see: what came before, or both sides, or two texts"),
    }[objective]
    figures.draw_masks(masks, out, title=title)


def _all(length: int) -> list[figures.Mask]:
    causal = figures.Mask(
        title="causal: guess the next",
        allowed=causal_mask(length, length).numpy(),
        labels=["<sos>", *_words(length - 1)],
    )
    masked = figures.Mask(title="masked: guess the hidden", allowed=_everything(length).numpy(), labels=_hidden(length))
    bert = figures.Mask(title="bert: and does B follow A?", allowed=_everything(length).numpy(), labels=_two(length))
    return [causal, masked, bert]


def _masked(length: int) -> list[figures.Mask]:
    first = length // 2
    packed = same_document_mask(torch.arange(length)[None] >= first)[0, 0]
    labels = [*_hidden(first), *_hidden(length - first)]
    return [
        figures.Mask(title="A text alone", allowed=_everything(length).numpy(), labels=_hidden(length)),
        _padded(_hidden(length * 2 // 3), length),
        figures.Mask(title="Two texts in one window", allowed=packed.numpy(), labels=labels),
    ]


def _bert(length: int) -> list[figures.Mask]:
    pair = figures.Mask(title="Two texts in one row", allowed=_everything(length).numpy(), labels=_two(length))
    return [pair, _padded(_two(max(5, length * 2 // 3)), length)]


def _padded(labels: list[str], length: int) -> figures.Mask:
    allowed = _everything(length) & padding_mask(real_positions(torch.tensor([len(labels)]), length))[0, 0]
    filled = [*labels, *["<pad>"] * (length - len(labels))]
    return figures.Mask(title="Padding is never seen", allowed=allowed.numpy(), labels=filled)


def _everything(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool)


def _words(count: int) -> list[str]:
    return list(islice(cycle(TEXT.split()), count))


def _hidden(length: int) -> list[str]:
    """A framed text of `length` tokens, one in the middle hidden."""
    words = _words(length - 2)
    words[len(words) // 2] = "<mask>"
    return ["<cls>", *words, "<sep>"]


def _two(length: int) -> list[str]:
    """`<cls> A <sep> B <sep>`, a token of A hidden."""
    words = _words(length - 3)
    first = (len(words) + 1) // 2
    words[first - 1] = "<mask>"
    return ["<cls>", *words[:first], "<sep>", *words[first:], "<sep>"]

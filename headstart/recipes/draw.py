"""Pictures that need no trained model: the masks, and the sinusoidal positions."""

from itertools import cycle, islice
from pathlib import Path

import torch

from headstart.errors import ConfigError
from headstart.model.masks import causal_mask, padding_mask, real_positions, same_document_mask
from headstart.model.positions import sinusoids
from headstart.report import figures

TEXT = "this film is a small wonder , and we saw it twice ; the second time was even better ."


def draw_mask(out: Path, *, length: int = 8) -> None:
    """The square mask of a causal body: alone, with padding hidden, and with two texts packed into one window."""
    if not 4 <= length <= 64:
        raise ConfigError(f"--length {length} is too short or too long to show padding and packing; type --length 8")
    square = causal_mask(length, length)
    short = length * 2 // 3
    padded = square & padding_mask(real_positions(torch.tensor([short]), length))
    first = (length + 1) // 2
    packed = square & same_document_mask(torch.arange(length)[None] >= first)
    two_texts = [*_words(first - 1), "<eos>", *_words(length - first)]
    masks = [
        figures.Mask(title="A text alone", allowed=square.numpy(), labels=_words(length)),
        figures.Mask(
            title="Padding is never seen",
            allowed=padded[0, 0].numpy(),
            labels=[*_words(short), *["<pad>"] * (length - short)],
        ),
        figures.Mask(title="Two texts in one window", allowed=packed[0, 0].numpy(), labels=two_texts),
    ]
    figures.draw_masks(masks, out, title="A token sees itself and all before it, and nothing after it")


def draw_positions(out: Path, *, length: int = 128, width: int = 128) -> None:
    """The vectors that mark the first `length` positions of a text, and their cosines."""
    if not 2 <= length <= 5_000 or not 2 <= width <= 5_000:
        raise ConfigError(f"--length {length} --width {width} make no picture; choose 2 to 5,000 for each")
    table = sinusoids(torch.arange(length), width)
    unit = table / table.norm(dim=1, keepdim=True)
    title = "Sinusoidal positions: near tokens get similar vectors, far ones less so"
    figures.draw_positions(table.numpy(), (unit @ unit.T).numpy(), out, title=title)


def _words(count: int) -> list[str]:
    """The beginning of a text of `count` tokens."""
    return ["<sos>", *islice(cycle(TEXT.split()), count - 1)]

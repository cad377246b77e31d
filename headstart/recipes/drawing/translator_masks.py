"""The three masks of a translator: who may look at whom while reading, while writing, and between the two."""

from pathlib import Path

import torch

from headstart.errors import ConfigError
from headstart.model.masks import causal_mask, padding_mask, real_positions
from headstart.report import figures

READ = ["two", "dogs", "play", "in", "the", "snow", "near", "a", "house", "and", "a", "man", "looks", "on"]
WRITTEN = ["deux", "chiens", "jouent", "dans", "la", "neige", "près", "d'une", "maison", "et", "un", "homme", "regarde"]


def draw_translator_masks(out: Path, *, length: int = 8) -> None:
    """A source of `length` positions, the last two of them padding, and a target of as many."""
    if not 5 <= length <= len(WRITTEN) + 1:
        raise ConfigError(f"--length {length}: the sentence of this picture has 5 to {len(WRITTEN) + 1} tokens")
    real = real_positions(torch.tensor([length - 2]), length)
    reading = padding_mask(real).expand(1, 1, length, length)[0, 0]
    source = [*READ[: length - 3], "<eos>", "<pad>", "<pad>"]
    target = ["<sos>", *WRITTEN[: length - 1]]
    masks = [
        figures.Mask(title="Reading: both ways, no padding", allowed=reading.numpy(), labels=source),
        figures.Mask(title="Writing: nothing after it", allowed=causal_mask(length, length).numpy(), labels=target),
        figures.Mask(title="Written looks at read", allowed=reading.numpy(), labels=target, columns=source),
    ]
    figures.draw_masks(masks, out, title="The three masks of a translator")

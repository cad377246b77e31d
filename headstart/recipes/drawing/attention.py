"""Where the heads of a trained model look."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from headstart.checkpoint import Saved, load
from headstart.errors import ConfigError, DataError
from headstart.model.attention import Attention
from headstart.model.models import Translator
from headstart.recipes.drawing.alignment import draw_alignment, most_tokens
from headstart.report.figures import draw_attention as draw
from headstart.report.style import picture_path


def draw_attention(run: Path, text: str, out: Path, *, layer: int = 0) -> None:
    """Draw the heads of one layer, counted from 1 (0: the last), while the model reads `text`.

    Of a translator, where it looks in `text` while it writes the translation.
    """
    picture_path(out)
    saved = load(run)
    if isinstance(saved.model, Translator):
        draw_alignment(saved, text, out, layer=layer)
        return
    seen = watch(saved, text, layer)
    draw(seen.weights, seen.tokens, seen.tokens, seen.layer, out)


@dataclass(frozen=True, eq=False)
class Watched:
    """The weights (H, T, T) of the heads of one layer, and the tokens that were read."""

    weights: np.ndarray
    tokens: list[str]
    layer: int


def watch(saved: Saved, text: str, layer: int) -> Watched:
    """Let the model read `text`, and look at the heads of one layer, counted from 1 (0: the last)."""
    ids, tokens = read_tokens(saved, text)
    body = saved.model.reader if isinstance(saved.model, Translator) else saved.model.get_submodule("body")
    blocks = list(body.get_submodule("blocks").children())
    if not 0 <= layer <= len(blocks):
        raise ConfigError(f"--layer {layer}: this model has layers 1 to {len(blocks)}")
    attention = blocks[layer - 1].get_submodule("attention")
    assert isinstance(attention, Attention)
    attention.watched = []
    with torch.inference_mode():
        body(torch.tensor([ids]))
    return Watched(attention.watched[0][0].numpy(), tokens, layer or len(blocks))


def read_tokens(saved: Saved, text: str) -> tuple[list[int], list[str]]:
    """The ids that the model reads, with what a person reads in their place."""
    tokenizer = saved.tokenizer
    ids = tokenizer.encode(text)
    if not ids:
        raise DataError("the text is empty: there is nothing to look at")
    first, last = ([tokenizer.sos], []) if saved.card.causal else ([tokenizer.cls], [tokenizer.sep])
    ids = [*first, *ids, *last]
    most = most_tokens(saved.card.shape)
    if len(ids) > most:
        raise DataError(f"the text has {len(ids)} tokens, but at most {most} can be shown: shorten it")
    return ids, [tokenizer.piece(id) for id in ids]

"""Where a translator looks in the text that it reads while it writes each word."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from headstart.checkpoint import Saved
from headstart.errors import ConfigError, DataError
from headstart.generate.beam import GREEDY, search
from headstart.generate.choose import never_written
from headstart.model.attention import Attention
from headstart.model.models import Translator
from headstart.model.shape import Shape
from headstart.report.figures import draw_weights
from headstart.report.grids import Grid

MOST_TOKENS = 100  # more are not readable on the axes
READING = "Each row is a word being written; its weights over the columns, the words read, sum to one."


def most_tokens(shape: Shape) -> int:
    """How many tokens a picture can show and the model can read."""
    return min(MOST_TOKENS, shape.context) if shape.positions == "learned" else MOST_TOKENS


@dataclass(frozen=True, eq=False)
class Alignment:
    """The weights (H, T, S) with which each of the T tokens written, `<eos>` too, looks at the S tokens read."""

    weights: np.ndarray
    written: list[str]
    read: list[str]
    layer: int


def align(saved: Saved, text: str, layer: int = 0) -> Alignment:
    """Translate `text` greedily, and look at the cross-attention of one layer, counted from 1 (0: the last).

    The queries come from the text being written, the keys and values from the text read. The query that writes a word
    stands at the word before it: a row is named after the word that it writes.
    """
    model, source, target = saved.model, saved.source_tokenizer, saved.tokenizer
    assert isinstance(model, Translator)
    depth = model.writer.shape.depth
    if not 0 <= layer <= depth:
        raise ConfigError(f"--layer {layer}: this model has layers 1 to {depth}")
    ids = source.encode(text)
    if not ids or not text.strip():
        raise DataError("the text is empty: there is nothing to translate")
    most = min(most_tokens(model.reader.shape), saved.card.longest or MOST_TOKENS)  # a longer one is read in parts
    if len(ids) + 1 > most:
        raise DataError(f"the text has {len(ids) + 1} tokens, but at most {most} can be shown: shorten it")
    read = [*ids, source.eos]
    how = replace(GREEDY, growth=max(GREEDY.growth, saved.card.growth))
    best = search(model, [read], how, forbidden=never_written(target, model.writer.shape.vocabulary))[0][0]
    block = list(model.writer.blocks)[layer - 1]
    attention = block.get_submodule("reader")
    assert isinstance(attention, Attention)
    attention.watched = []
    with torch.inference_mode():
        model(torch.tensor([read]), torch.tensor([[target.sos, *best.ids]]))
    weights = attention.watched[0][0].numpy()  # (H, T, S)
    attention.watched = None
    written = [target.piece(id) for id in (*best.ids, target.eos)]
    return Alignment(weights, written, [source.piece(id) for id in read], layer or depth)


def draw_alignment(saved: Saved, text: str, out: Path, *, layer: int = 0) -> None:
    """The mean of the heads, then each of them: rows are the words written, columns the words read."""
    found = align(saved, text, layer)
    grids = [Grid("All heads, mean", found.weights.mean(0), found.written, found.read)]
    if len(found.weights) > 1:
        grids += [Grid(f"Head {n}", head, found.written, found.read) for n, head in enumerate(found.weights, start=1)]
    title = f"Which words read are looked at for each word written, layer {found.layer}"
    draw_weights(grids, out, title=title, reading=READING, most=3)

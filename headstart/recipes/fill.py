"""The likeliest pieces for each `<mask>` of a text, guessed from both sides by a masked model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from headstart.checkpoint import Saved, load
from headstart.data.batch import padded
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.model.masks import real_positions
from headstart.model.models import MaskedModel
from headstart.text.gaps import MASK, Gaps
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import choose_device

ROWS = 32  # texts read at once
SCORED = 256  # gaps scored at once: a score for each piece of the vocabulary
SPACE = "\u2581"  # SentencePiece writes a space so
MASKED_RUN = "headstart pretrain CORPUS --objective masked --out runs/masked"
INSTEAD = {
    "lm": "it reads from left to right, and what follows a gap is hidden from it. "
    f'Make one that reads both ways: {MASKED_RUN}. This one writes on: headstart generate {{run}} "A text"',
    "classify": "its head names classes. Fill gaps with the masked run that it was fine-tuned from, "
    f"or make one: {MASKED_RUN}",
    "translate": f"it translates: headstart translate {{run}} FILE. Make one that fills gaps: {MASKED_RUN}",
}


@dataclass(frozen=True)
class Guess:
    """One piece in a gap; `attached` pieces have no space before them: they go on with a word, or are punctuation."""

    word: str
    probability: float
    attached: bool


@dataclass(frozen=True)
class Filled:
    """A text, the guesses for each of its gaps, likeliest first, and the text with the first guess in each.

    Each gap is guessed as if the others stayed open.
    """

    text: str
    gaps: tuple[tuple[Guess, ...], ...]
    likeliest: str


def fill(run: Path, texts: Iterable[str], *, top: int = 5, device: str = "cpu") -> Iterator[Filled]:
    """Text after text, in order. Probabilities are shares of the whole vocabulary."""
    if top < 1:
        raise ConfigError(f"--top {top}: at least 1 guess is needed, such as --top 5")
    saved = load(run, choose_device(device))
    if not isinstance(saved.model, MaskedModel):
        raise CheckpointError(f"{run}: this model fills no gaps: " + INSTEAD[saved.card.task].format(run=run))
    return _in_blocks(saved, saved.model, texts, top)


def _in_blocks(saved: Saved, model: MaskedModel, texts: Iterable[str], top: int) -> Iterator[Filled]:
    tokenizer = saved.tokenizer
    gaps, source = Gaps(tokenizer), enumerate(texts, 1)
    while block := list(islice(source, ROWS)):
        rows = [_framed(gaps, number, text, saved.card.shape.context) for number, text in block]
        ids = padded([np.array(row) for row in rows], tokenizer.pad)
        found = iter(_guesses(model, tokenizer, ids, [len(row) for row in rows], top))
        for (_, text), row in zip(block, rows):
            guessed = [next(found) for id in row if id == tokenizer.mask]
            firsts = iter([numbers[0] for numbers, _ in guessed])
            likeliest = tokenizer.decode([next(firsts) if id == tokenizer.mask else id for id in row])
            yield Filled(text, tuple(_shown(tokenizer, *each) for each in guessed), likeliest)


def _framed(gaps: Gaps, number: int, text: str, context: int) -> list[int]:
    if MASK not in text:
        raise DataError(f"text {number} ({text[:30]!r}…) has no gap: write {MASK} in the place of a word")
    ids = [gaps.tokenizer.cls, *gaps.encode(text), gaps.tokenizer.sep]
    if len(ids) > context:
        raise DataError(
            f"text {number} ({text[:30]!r}…) has {len(ids):,} tokens with <cls> and <sep>, but this model reads "
            f"{context:,} at once: shorten it"
        )
    return ids


@torch.inference_mode()
def _guesses(
    model: MaskedModel, tokenizer: Tokenizer, ids: np.ndarray, lengths: list[int], top: int
) -> Iterator[tuple[list[int], list[float]]]:
    """For each gap, row by row, the likeliest ids and their probabilities."""
    device = model.body.embedding.weight.device
    rows = torch.from_numpy(ids).to(device)  # (B, T)
    real = real_positions(torch.tensor(lengths, device=device), rows.size(1))
    hidden = model.body(rows, real=None if real.all() else real)[rows == tokenizer.mask]  # (gaps, D)
    allowed = _allowed(tokenizer, model.body.shape.vocabulary).to(device)
    for part in hidden.split(SCORED):
        shares = model.head(part).float().softmax(dim=-1)[:, allowed]  # (gaps, pieces)
        best = shares.topk(min(top, len(allowed)), dim=-1)
        yield from zip(allowed[best.indices].tolist(), best.values.tolist())


def _allowed(tokenizer: Tokenizer, vocabulary: int) -> Tensor:
    """No special, no single byte of a rare character, and no id that the model has but the tokenizer lacks."""
    hidden = {*tokenizer.specials, *tokenizer.byte_ids}
    return torch.tensor([id for id in range(min(tokenizer.size, vocabulary)) if id not in hidden])


def _shown(tokenizer: Tokenizer, numbers: list[int], shares: list[float]) -> tuple[Guess, ...]:
    pieces = [tokenizer.piece(id) for id in numbers]
    return tuple(
        Guess(piece.removeprefix(SPACE), share, not piece.startswith(SPACE)) for piece, share in zip(pieces, shares)
    )

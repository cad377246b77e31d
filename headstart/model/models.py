"""Bodies and heads put together: the four models of this package."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from headstart.model.body import Body
from headstart.model.heads import ClassHead, MaskedHead, VocabularyHead
from headstart.model.masks import real_positions

Pooling = Literal["last", "first", "mean"]
Task = Literal["lm", "classify", "masked", "bert", "translate"]


class LanguageModel(nn.Module):
    """Predict the next token from all before it."""

    def __init__(self, body: Body):
        super().__init__()
        assert body.causal, "a language model must not see the future"
        self.body, self.head = body, VocabularyHead(body.shape, body.embedding)

    def forward(self, ids: Tensor, **context: Any) -> Tensor:
        """(B, T) -> (B, T, V); `context` is what Body.forward takes."""
        return self.head(self.body(ids, **context))


class MaskedModel(nn.Module):
    """Predict the hidden tokens from both sides; with `next_sentence` also whether text B follows text A: no, yes."""

    def __init__(self, body: Body, *, next_sentence: bool = False):
        super().__init__()
        assert not body.causal, "a masked model looks both ways"
        self.body, self.head = body, MaskedHead(body.shape, body.embedding)
        self.next_sentence = ClassHead(body.shape.width, 2, pooler=True) if next_sentence else None

    def forward(self, ids: Tensor, **context: Any) -> Tensor:
        return self.head(self.body(ids, **context))  # (B, T, V)


class Classifier(nn.Module):
    """A pretrained body under a fresh head, reading one vector per text.

    A causal body is read at the last real token, the only one that has seen the whole text;
    a bidirectional one at its first (`<cls>`) or by the mean of its real tokens.
    """

    def __init__(self, body: Body, classes: int, *, pooling: Pooling = "last", dropout: float = 0.0):
        super().__init__()
        self.body, self.pooling = body, pooling
        self.head = ClassHead(body.shape.width, classes, dropout=dropout)

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        """Right-padded ids (B, T) and the real length of each row (B,) -> (B, C)"""
        return self.head(self.pool(ids, lengths, segments))

    def pool(self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        """(B, T) -> (B, D). Right padding lies in a causal body's future, so it needs no mask there."""
        real = real_positions(lengths, ids.size(1))  # (B, T)
        at = {"first": torch.zeros_like(lengths), "last": (lengths - 1).clamp(min=0), "mean": None}[self.pooling]
        x = self.body(ids, real=None if self.body.causal else real, segments=segments, at=at)  # (B, T or 1, D)
        return x[:, 0] if at is not None else (x * real[..., None]).sum(1) / lengths.clamp(min=1)[:, None]


class Translator(nn.Module):
    """Read a source text with one body, write a target text with another; `shared` ties their tables."""

    def __init__(self, reader: Body, writer: Body, *, shared: bool = True):
        super().__init__()
        assert (reader.causal, writer.causal) == (False, True), "read both ways, write without the future"
        self.reader, self.writer = reader, writer
        if shared:
            writer.embedding = reader.embedding
        self.head = VocabularyHead(writer.shape, writer.embedding)

    def forward(self, source: Tensor, target: Tensor, real: Tensor | None = None) -> Tensor:
        """(B, S), (B, T) -> (B, T, V); `real` (B, S) is False at padding; that of the target lies in its future."""
        return self.head(self.writer(target, memory=self.reader(source, real=real), memory_real=real))

"""What is learnt: a batch in, the summed loss out."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headstart.data.batch import IGNORED, TARGETS
from headstart.model.heads import VocabularyHead
from headstart.model.models import Classifier, LanguageModel, MaskedModel
from headstart.train.sampled_loss import Sampler, sampled_loss
from headstart.train.vocabulary_loss import vocabulary_loss


class NextToken(nn.Module):
    """Predict each token from those before it, in windows that may hold several documents.

    With a `sampler`, training reads only a sample of the vocabulary; evaluation is always exact.
    """

    def __init__(self, model: LanguageModel, sampler: Sampler | None = None):
        super().__init__()
        self.model, self.sampler = model, sampler

    def forward(self, batch: Any) -> Tensor:
        documents = None if batch.single else batch.documents
        x = self.model.body(batch.ids, documents=documents, positions=batch.positions)  # (B, T, D)
        return head_loss(self.model.head, x, batch.targets, self.sampler if self.training else None)


class HiddenTokens(nn.Module):
    """Guess the hidden tokens from both sides; no other position goes through the head."""

    def __init__(self, model: MaskedModel, sampler: Sampler | None = None):
        super().__init__()
        self.model, self.sampler = model, sampler

    def forward(self, batch: Any) -> Tensor:
        documents = None if batch.single else batch.documents
        x = self.model.body(batch.ids, documents=documents, positions=batch.positions)  # (B, T, D)
        return head_loss(self.model.head, x, batch.targets, self.sampler if self.training else None)


class HiddenTokensAndNextSentence(nn.Module):
    """BERT's two tasks at once: guess the hidden tokens, and whether text B follows text A."""

    def __init__(self, model: MaskedModel, sampler: Sampler | None = None):
        super().__init__()
        self.model, self.sampler = model, sampler

    def forward(self, batch: Any) -> Tensor:
        """Two sums, since each loss has its own number of targets. -> (2,)"""
        return self.measure(batch)[:2]

    def measure(self, batch: Any) -> Tensor:
        """Both losses, and how often the next sentence was told right. -> (3,)"""
        real = batch.documents >= 0
        x = self.model.body(batch.ids, real=real, positions=batch.positions, segments=batch.segments)  # (B, T, D)
        assert self.model.next_sentence is not None
        scores = self.model.next_sentence(x[:, 0]).float()  # (B, 2)
        next_loss = F.cross_entropy(scores, batch.follows, reduction="sum", ignore_index=IGNORED)
        right = (scores.argmax(1) == batch.follows).sum()
        hidden_loss = head_loss(self.model.head, x, batch.targets, self.sampler if self.training else None)
        return torch.stack([hidden_loss, next_loss, right.to(next_loss)])


class ClassOfText(nn.Module):
    """Predict the label of a text, or how likely each one is; `weights` make rare classes count as much as common."""

    def __init__(self, model: Classifier, weights: Tensor | None = None):
        super().__init__()
        self.model = model
        self.weights: Tensor | None
        self.register_buffer("weights", weights, persistent=False)

    def forward(self, batch: Any) -> Tensor:
        scores = self.model(batch.ids, batch.lengths, batch.segments).float()  # (B, C)
        if batch.shares is None:
            return F.cross_entropy(scores, batch.labels, self.weights, reduction="sum")
        asked = batch.labels >= 0
        return F.cross_entropy(scores[asked], batch.shares[asked], self.weights, reduction="sum")


def head_loss(head: VocabularyHead, x: Tensor, targets: Tensor, sampler: Sampler | None = None) -> Tensor:
    """The summed loss at the positions (B, T) that have a target, picked out before the head works on them.

    Exact, or, with a `sampler`, over a sample of the vocabulary.
    """
    places = (targets.flatten() >= 0).nonzero()[:, 0]
    picked, asked = head.refine(x.flatten(0, 1).index_select(0, places)), targets.flatten()[places]  # (N, D), (N)
    if sampler is None:
        return vocabulary_loss(picked, head.weight, head.bias, asked)
    return sampled_loss(picked, head.weight, head.bias, asked, sampler)


def targets_in(batch: Any) -> Tensor:
    """How many predictions of each kind a batch asks for: each summed loss is divided by its own, over all workers."""
    return torch.stack([(getattr(batch, kind) >= 0).sum() for kind in TARGETS if hasattr(batch, kind)])

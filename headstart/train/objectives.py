"""What is learnt: a batch in, the summed loss out."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from headstart.model.models import Classifier, LanguageModel
from headstart.train.vocabulary_loss import vocabulary_loss


class NextToken(nn.Module):
    """Predict each token from those before it, in windows that may hold several documents."""

    def __init__(self, model: LanguageModel):
        super().__init__()
        self.model = model

    def forward(self, batch: Any) -> Tensor:
        documents = None if batch.single else batch.documents
        x = self.model.body(batch.ids, documents=documents, positions=batch.positions)  # (B, T, D)
        head = self.model.head
        return vocabulary_loss(head.refine(x).flatten(0, 1), head.weight, head.bias, batch.targets.flatten())


class ClassOfText(nn.Module):
    """Predict the label of a text; `weights` make rare classes count as much as common ones."""

    def __init__(self, model: Classifier, weights: Tensor | None = None):
        super().__init__()
        self.model = model
        self.weights: Tensor | None
        self.register_buffer("weights", weights, persistent=False)

    def forward(self, batch: Any) -> Tensor:
        scores = self.model(batch.ids, batch.lengths, batch.segments)  # (B, C)
        return F.cross_entropy(scores.float(), batch.labels, self.weights, reduction="sum")


def targets_in(batch: Any) -> int:
    """How many predictions a batch asks for: the sum of losses is divided by it, over all workers."""
    targets: Tensor = batch.targets if hasattr(batch, "targets") else batch.labels
    return int((targets >= 0).sum())

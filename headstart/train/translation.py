"""What a translator learns: each token of the target from the whole source and the target before it."""

from typing import Any

from torch import Tensor, nn

from headstart.model.masks import real_positions
from headstart.model.models import Translator
from headstart.train.smoothing import smoothed_loss


class NextWord(nn.Module):
    """The summed loss of a batch of pairs; `smoothing` counts while learning, never while measuring."""

    def __init__(self, model: Translator, smoothing: float = 0.0):
        super().__init__()
        self.model, self.smoothing = model, smoothing

    def forward(self, batch: Any) -> Tensor:
        real = real_positions(batch.source_lengths, batch.source.size(1))  # (B, S)
        model = self.model
        memory = model.reader(batch.source, real=real)  # (B, S, D)
        x = model.writer(batch.given, memory=memory, memory_real=real)  # (B, T, D)
        share = self.smoothing if self.training else 0.0
        head = model.head
        return smoothed_loss(head.refine(x).flatten(0, 1), head.weight, head.bias, batch.targets.flatten(), share)

"""What a translator learns: each token of the target from the whole source and the target before it."""

from typing import Any

from torch import Tensor, nn

from headstart.model.masks import real_positions
from headstart.model.models import Translator
from headstart.train.agreement import agreeing_loss
from headstart.train.smoothing import smoothed_loss


class NextWord(nn.Module):
    """The summed loss of a batch of pairs; `smoothing` and `agreement` count while learning, never while measuring."""

    def __init__(self, model: Translator, smoothing: float = 0.0, agreement: float = 0.0):
        super().__init__()
        self.model, self.smoothing, self.agreement = model, smoothing, agreement

    def forward(self, batch: Any) -> Tensor:
        head, targets = self.model.head, batch.targets.flatten()
        if self.training and self.agreement:
            x = self.vectors(batch, times=2).unflatten(0, (2, -1)).flatten(1, 2)  # (2, B T, D)
            return agreeing_loss(x, head.weight, head.bias, targets, self.smoothing, self.agreement)
        share = self.smoothing if self.training else 0.0
        return smoothed_loss(self.vectors(batch).flatten(0, 1), head.weight, head.bias, targets, share)

    def vectors(self, batch: Any, times: int = 1) -> Tensor:
        """What the head reads, of each row so many times, with a dropout of its own each time. -> (times · B, T, D)"""
        source, given, lengths = (
            part.repeat(times, *[1] * (part.dim() - 1)) for part in (batch.source, batch.given, batch.source_lengths)
        )
        real = real_positions(lengths, source.size(1))  # (B, S)
        memory = self.model.reader(source, real=real)  # (B, S, D)
        return self.model.head.refine(self.model.writer(given, memory=memory, memory_real=real))

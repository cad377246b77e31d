"""Exact scores of a language model on text that it never learnt from."""

import math

import torch
from torch import nn

from headstart.data.windows import CausalWindows
from headstart.recipes.settings import Settings
from headstart.recipes.training import Scores
from headstart.text.store import Tokens
from headstart.train.device import Workers
from headstart.train.objectives import targets_in


class HeldOut:
    """Loss in nats per token, perplexity, and bits per byte, which compare between tokenizers."""

    def __init__(self, objective: nn.Module, tokens: Tokens, settings: Settings, pad: int, workers: Workers):
        self.objective, self.tokens, self.workers = objective, tokens, workers
        data = settings.data
        self.windows = CausalWindows(tokens, data.length, data.rows, 0, pad, data.across)
        quick = max(1, settings.train.evaluate_tokens // (data.rows * data.length))
        self.batches = min(self.windows.steps(0), quick)

    def quick(self) -> Scores:
        return self._scores(self.batches)

    def whole(self) -> Scores:
        return self._scores(self.windows.steps(0))

    @torch.no_grad()
    def _scores(self, batches: int) -> Scores:
        self.objective.eval()
        total, count = 0.0, 0
        for position in range(self.workers.rank, batches, self.workers.world):
            batch = self.windows.batch(0, position)
            total += self.objective(batch.to(self.workers.device)).item()
            count += targets_in(batch)
        loss = self.workers.add_up(total) / max(1.0, self.workers.add_up(count))
        targets = len(self.tokens) - self.tokens.documents  # every token but each <sos>
        bits = loss * targets / max(1, self.tokens.bytes) / math.log(2)
        return {"held_out_loss": loss, "perplexity": math.exp(min(loss, 700)), "bits_per_byte": bits}

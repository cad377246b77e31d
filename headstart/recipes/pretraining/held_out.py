"""Exact scores on text that a model never learnt from."""

from dataclasses import replace

import torch
from torch import nn

from headstart.data.hiding import USUAL
from headstart.recipes.pretraining.objectives import Objective
from headstart.recipes.running.training import Scores
from headstart.recipes.settings import Settings
from headstart.text.store import Tokens
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import Workers
from headstart.train.objectives import targets_in

MOST = 3  # sums that an objective gives, at most


class HeldOut:
    """Scores of a model by its objective.

    What is hidden, and which texts are paired, is drawn once and for all, and as BERT does whatever the run does:
    so the figures compare between evaluations, and between runs that cut the same text to the same length.
    """

    def __init__(
        self,
        objective: Objective,
        model: nn.Module,
        tokens: Tokens,
        settings: Settings,
        tokenizer: Tokenizer,
        workers: Workers,
    ):
        self.objective, self.tokens, self.workers = objective, tokens, workers
        self.loss = objective.loss(model)
        data = replace(settings.data, hide=USUAL.chosen, whole_words=False)
        self.windows = objective.windows(tokens, data, tokenizer, 0)
        quick = max(1, settings.train.evaluate_tokens // (data.rows * data.length))
        self.batches = min(self.windows.steps(0), quick)

    def quick(self) -> Scores:
        return self._scores(self.batches)

    def whole(self) -> Scores:
        return self._scores(self.windows.steps(0))

    @torch.no_grad()
    def _scores(self, batches: int) -> Scores:
        self.loss.eval()
        sums, targets = torch.zeros(MOST, dtype=torch.float64), torch.zeros(MOST, dtype=torch.float64)
        for position in range(self.workers.rank, batches, self.workers.world):
            batch = self.windows.batch(0, position)
            found = self.objective.measure(self.loss, batch.to(self.workers.device)).cpu().reshape(-1)
            asked = targets_in(batch)
            sums[: len(found)] += found
            targets[: len(asked)] += asked
        over_all = [self.workers.add_up(value) for value in (*sums.tolist(), *targets.tolist())]
        return self.objective.scores(over_all[:MOST], over_all[MOST:], self.tokens)

"""Which token comes next, given a score for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import torch
from torch import Tensor

from headstart.text.tokenizer import Tokenizer

Chooser = Callable[[Tensor, Tensor], Tensor]
"""Scores (B, V), which it may write on, and each row's luck, a float32 in [0, 1) on the CPU (B,) -> ids (B,)"""

FIRST_LOOK = 128  # tokens sorted to find a nucleus, before more of them are; sorting all of them costs 40 times as much
COLDEST = 1e-6  # nearer to 0 a division would overflow


class Candidates(NamedTuple):
    """The tokens that may still be chosen: their scores (B, K) and their ids (B, K), in the order of the ids."""

    scores: Tensor
    ids: Tensor


Narrowing = Callable[[Candidates], Candidates]


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How daring the choice is. Temperature 0 always takes the best token; top-k 0 and top-p 1 leave nothing out."""

    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"--temperature {self.temperature}: give 0 (always the best token) or more, such as 0.8")
        if self.top_k < 0:
            raise ValueError(f"--top-k {self.top_k}: give 1 or more, such as 40, or 0 for all tokens")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"--top-p {self.top_p}: give a share above 0 and up to 1, such as 0.95; 1 is all tokens")

    def chooser(self, forbidden: Sequence[int] = ()) -> "Chain":
        """The k best are the same at every temperature, so the many scores are cut down before anything else."""
        if self.temperature < COLDEST or self.top_k == 1:
            return Chain(forbidden, [], greedy, best=1)
        narrowings: list[Narrowing] = []
        if self.top_k:
            narrowings.append(partial(keep_best, count=self.top_k))
        if self.temperature != 1:
            narrowings.append(partial(temper, temperature=self.temperature))
        if self.top_p < 1:
            narrowings.append(partial(keep_nucleus, mass=self.top_p))
        return Chain(forbidden, narrowings, draw, best=self.top_k)


class Chain:
    """One chooser out of small parts, applied in order. `best` is how many of the highest scores matter; 0 for all."""

    def __init__(
        self,
        forbidden: Sequence[int],
        narrowings: Sequence[Narrowing],
        pick: Callable[[Candidates, Tensor], Tensor],
        best: int = 0,
    ):
        self.forbidden, self.narrowings, self.pick, self.best = tuple(forbidden), narrowings, pick, best
        self.never = torch.tensor(forbidden, dtype=torch.long)

    def __call__(self, scores: Tensor, luck: Tensor) -> Tensor:
        scores.index_fill_(1, self.never.to(scores.device), -torch.inf)
        return self.among(Candidates(scores, _ids(scores.size(1), scores.device).expand_as(scores)), luck)

    def among(self, candidates: Candidates, luck: Tensor) -> Tensor:
        """The same choice where all that may win, and nothing forbidden, was found before."""
        for narrowing in self.narrowings:
            candidates = narrowing(candidates)
        return candidates.ids.gather(1, self.pick(candidates, luck)[:, None]).squeeze(1)


def temper(candidates: Candidates, temperature: float) -> Candidates:
    """Divide the scores: below 1 the likely becomes likelier, above 1 all become more alike."""
    return candidates._replace(scores=candidates.scores / temperature)


def keep_best(candidates: Candidates, count: int) -> Candidates:
    """Top-k: only the `count` tokens with the highest scores (Fan et al., 2018)."""
    if count >= candidates.scores.size(1):
        return candidates
    return _only(candidates, candidates.scores.topk(count, sorted=False).indices)


def keep_nucleus(candidates: Candidates, mass: float) -> Candidates:
    """Top-p: the fewest tokens whose probabilities reach `mass` together (Holtzman et al., 2020).

    A token stays if those above it hold less than `mass`; so the best one always stays.
    """
    scores = candidates.scores
    sums, order = _sums_of_best(scores, mass)
    needed = (sums < mass).sum(1, keepdim=True).clamp(max=order.size(1) - 1)  # (B, 1), less one
    worst = scores.gather(1, order.gather(1, needed))  # (B, 1)
    kept = _only(candidates, order[:, : int(needed.max()) + 1])
    return kept._replace(scores=kept.scores.masked_fill(kept.scores < worst, -torch.inf))


def greedy(candidates: Candidates, luck: Tensor) -> Tensor:
    """The best token, whatever the luck. -> places among the candidates (B,)"""
    return candidates.scores.argmax(1)


def draw(candidates: Candidates, luck: Tensor) -> Tensor:
    """In proportion to e^score: where the probabilities, added up, pass the row's luck. -> places (B,)

    The sums are finer than the luck, so that a token with probability 0 is never met. They are made on the
    CPU, as some devices have no numbers that fine.
    """
    sums = candidates.scores.cpu().softmax(1, dtype=torch.float64).cumsum(1)  # (B, K)
    places = torch.searchsorted(sums, luck[:, None] * sums[:, -1:], right=True)  # (B, 1)
    return places.squeeze(1).to(candidates.ids.device)


def never_written(tokenizer: Tokenizer, vocabulary: int) -> list[int]:
    """All specials but the end, and ids that the model has but the tokenizer lacks."""
    specials = sorted(id for id in tokenizer.specials - {tokenizer.eos} if id < vocabulary)
    return [*specials, *range(tokenizer.size, vocabulary)]


@lru_cache(maxsize=4)
def _ids(vocabulary: int, device: torch.device) -> Tensor:
    return torch.arange(vocabulary, device=device)


def _sums_of_best(scores: Tensor, mass: float) -> tuple[Tensor, Tensor]:
    """Running sums of the highest probabilities, until all rows reach `mass`, and the places of these scores."""
    total, looked = scores.logsumexp(1, keepdim=True), FIRST_LOOK
    while True:
        best = scores.topk(min(looked, scores.size(1)))
        sums = (best.values - total).exp().cumsum(1)
        if looked >= scores.size(1) or bool((sums[:, -1] >= mass).all()):
            return sums, best.indices
        looked *= 8


def _only(candidates: Candidates, places: Tensor) -> Candidates:
    """Back in the order of ids: two tokens that are nearly alike must not swap places by a rounding."""
    places = places.sort(1).values
    return Candidates(candidates.scores.gather(1, places), candidates.ids.gather(1, places))

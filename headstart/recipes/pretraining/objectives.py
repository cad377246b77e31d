"""The ways to pretrain, side by side: what each one builds, reads, learns and is scored by."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor, nn

from headstart.data.batch import Source
from headstart.data.flags import ends_sentence, starts_word
from headstart.data.hiding import Masking
from headstart.data.masked import MaskedWindows
from headstart.data.sentences import SentencePairs
from headstart.data.windows import CausalWindows
from headstart.model.models import Task
from headstart.recipes.running.training import Scores
from headstart.text.store import Tokens
from headstart.text.tokenizer import Tokenizer
from headstart.train.objectives import HiddenTokens, HiddenTokensAndNextSentence, NextToken
from headstart.train.settings import Windows

Name = Literal["causal", "masked", "bert"]


@dataclass(frozen=True, kw_only=True)
class Objective:
    """One way to pretrain.

    `windows(tokens, data, tokenizer, seed)` are its batches, `loss(model, sampler)` what it learns from them.
    On held-out text, `measure(loss, batch)` gives sums and `scores(sums, targets, tokens)` makes figures of them;
    `promised` is a figure that only text of several documents has.
    `blind` is what a guess loses beside ln V; `never(tokenizer)` are the ids that are not predicted; windows have
    at least `shortest` tokens, and may hold several documents if it `packs`.
    """

    name: Name
    task: Task
    windows: Callable[[Tokens, Windows, Tokenizer, int], Source[Any]]
    loss: Callable[..., nn.Module]
    scores: Callable[[Sequence[float], Sequence[float], Tokens], Scores]
    measure: Callable[[Any, Any], Tensor] = lambda loss, batch: loss(batch)
    never: Callable[[Tokenizer], frozenset[int]] = lambda tokenizer: tokenizer.specials
    promised: str = ""
    segments: int = 0
    blind: float = 0.0
    shortest: int = 1
    packs: bool = True

    @property
    def causal(self) -> bool:
        return self.task == "lm"

    def shortfall(self, scores: Scores) -> str:
        """A sentence where the promised figure is missing; "" otherwise."""
        if not self.promised or self.promised in scores:
            return ""
        return (
            "the held-out text has no second document like the first to take a false next sentence from: the next "
            "sentence is not scored, and the best model is the one that guesses hidden tokens best. Give more "
            "documents, or hold out more of them (--set data.holdout=0.2)"
        )


def _causal_windows(tokens: Tokens, data: Windows, tokenizer: Tokenizer, seed: int) -> CausalWindows:
    return CausalWindows(tokens, data.length, data.rows, seed, tokenizer.pad, data.across)


def _masked_windows(tokens: Tokens, data: Windows, tokenizer: Tokenizer, seed: int) -> MaskedWindows:
    hiding = _hiding(data, tokenizer)
    return MaskedWindows(tokens, data.length, data.rows, seed, tokenizer, across=data.across, **hiding)


def _sentence_pairs(tokens: Tokens, data: Windows, tokenizer: Tokenizer, seed: int) -> SentencePairs:
    ends, hiding = ends_sentence(tokenizer), _hiding(data, tokenizer)
    return SentencePairs(tokens, data.length, data.rows, seed, tokenizer, ends_sentence=ends, **hiding)


def _hiding(data: Windows, tokenizer: Tokenizer) -> dict[str, Any]:
    words = starts_word(tokenizer) if data.whole_words else None
    return {"masking": Masking(chosen=data.hide), "starts_word": words}


def _next_token_scores(sums: Sequence[float], targets: Sequence[float], tokens: Tokens) -> Scores:
    """Bits per byte compare between tokenizers; a masked loss has none, since it does not cover every byte."""
    loss = sums[0] / max(1.0, targets[0])
    predicted = len(tokens) - tokens.documents  # every token but each <sos>
    bits = loss * predicted / max(1, tokens.bytes) / math.log(2)
    return {"held_out_loss": loss, "perplexity": math.exp(min(loss, 700)), "bits_per_byte": bits}


def _masked_scores(sums: Sequence[float], targets: Sequence[float], tokens: Tokens) -> Scores:
    loss = sums[0] / max(1.0, targets[0])
    return {"held_out_loss": loss, "masked_loss": loss}


def _bert_scores(sums: Sequence[float], targets: Sequence[float], tokens: Tokens) -> Scores:
    """Where no next sentence was asked for there is no figure of it, and hidden tokens alone choose the best model."""
    if not targets[1]:
        return _masked_scores(sums, targets, tokens)
    hidden, follows = sums[0] / targets[0], sums[1] / targets[1]
    return {
        "held_out_loss": hidden + follows,
        "masked_loss": hidden,
        "next_sentence_loss": follows,
        "next_sentence_accuracy": sums[2] / targets[1],
    }


OBJECTIVES: dict[Name, Objective] = {
    "causal": Objective(
        name="causal",
        task="lm",
        windows=_causal_windows,
        loss=NextToken,
        scores=_next_token_scores,
        never=lambda tokenizer: frozenset({tokenizer.sos, tokenizer.pad}),
    ),
    "masked": Objective(
        name="masked",
        task="masked",
        windows=_masked_windows,
        loss=HiddenTokens,
        scores=_masked_scores,
    ),
    "bert": Objective(
        name="bert",
        task="bert",
        windows=_sentence_pairs,
        loss=HiddenTokensAndNextSentence,
        scores=_bert_scores,
        measure=lambda loss, batch: loss.measure(batch),
        promised="next_sentence_loss",
        segments=2,
        blind=math.log(2),
        shortest=7,
        packs=False,
    ),
}

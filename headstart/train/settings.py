"""How a model is trained; what changes a result stands here, so that the run file is the whole truth."""

import math
from dataclasses import dataclass
from typing import Literal

from headstart.data.framing import Keep
from headstart.data.pairs import MOST_PENALTY
from headstart.train.device import Precision
from headstart.train.optimiser import Decay

LARGE = 8_000  # tokens in a vocabulary, from which on a sample of it teaches more in the same time (docs/LOG.md)
MOST_DRAWN = 1_024
FEWEST_EPOCHS, MOST_EPOCHS, FEWEST_STEPS = 4, 40, 150  # of a fine-tuning that is told no number of epochs
FEWEST_STEPS_WITH_GUESSES = 1_000  # of one that learns from guessed labels too; one epoch, where that is enough


@dataclass(frozen=True, kw_only=True)
class Windows:
    """How a corpus is cut for pretraining: `rows` windows of `length` tokens in a batch."""

    rows: int = 16
    length: int = 128
    across: bool = False  # look back into the document before, and count positions through
    holdout: float = 0.01  # share of the documents that is held out
    hide: float = 0.15  # share of the tokens that a masked model has to guess
    whole_words: bool = False  # hide words, not single pieces of them

    def __post_init__(self) -> None:
        if min(self.rows, self.length) < 1 or not 0 < self.holdout < 1 or not 0 < self.hide <= 1:
            raise ValueError("rows and length must be at least 1, holdout and hide must lie between 0 and 1")


@dataclass(frozen=True, kw_only=True)
class Training:
    """`warmup` is a share of the steps; 0 for `evaluate_every` means ten times a run."""

    rate: float = 1e-3
    warmup: float = 0.05
    decay: Decay = "cosine"
    floor: float = 0.05
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.98
    clip: float = 1.0
    accumulate: int = 1
    loss: Literal["exact", "sampled", "auto"] = "auto"  # auto: sampled where the vocabulary is large
    vectors: Literal["random", "counted"] = "counted"  # what the token vectors of a fresh model start from
    negatives: int = 0  # tokens drawn for a sampled loss, beside the targets; 0: an eighth of all, at most 1,024
    precision: Precision = "auto"
    evaluate_every: int = 0
    evaluate_tokens: int = 65_536  # held-out tokens read while training; all of them at the end
    save_every: int = 200
    patience: int = 0  # evaluations without a better score before stopping; 0 never stops

    def __post_init__(self) -> None:
        if not 0 < self.rate < math.inf or not 0 <= self.warmup <= 1 or not 0 <= self.floor <= 1:
            raise ValueError("rate must be above 0, warmup and floor must lie between 0 and 1")
        if not 0 <= self.beta1 < 1 or not 0 <= self.beta2 < 1 or not self.clip >= 0:
            raise ValueError("beta1 and beta2 must lie in [0, 1), clip must be 0 (none) or more")
        if not 0 <= self.weight_decay < math.inf:
            raise ValueError(f"weight_decay is {self.weight_decay}, but it must be 0 or more")
        for name in ("evaluate_every", "save_every", "patience", "negatives"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, but it must be 0 or more")
        if self.accumulate < 1:
            raise ValueError(f"accumulate is {self.accumulate}, but it must be at least 1")

    def drawn(self, vocabulary: int) -> int:
        """How many tokens of so many a loss is sampled from, beside the targets of a batch; 0: the loss is exact."""
        if self.loss == "exact" or (self.loss == "auto" and vocabulary < LARGE):
            return 0
        return self.negatives or max(1, min(vocabulary // 8, MOST_DRAWN))


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """How a body learns labels. `layer_decay` below 1 lets lower layers learn more slowly."""

    epochs: int = 0  # passes over the labelled rows; 0: four, or as many as 150 steps need, at most 40
    rows: int = 16
    rate: float = 3e-4
    scratch_rate: float = 3e-4
    warmup: float = 0.1
    decay: Decay = "linear"
    weight_decay: float = 0.01
    clip: float = 1.0
    dropout: float = 0.1
    layer_decay: float = 1.0
    freeze: Literal["none", "body", "gradual"] = "none"
    pooling: Literal["auto", "last", "first", "mean"] = "auto"
    keep: Keep = "both"
    class_weights: bool = False
    baseline: bool = False  # predictions are the mean of the model's and of the classic baseline's
    precision: Precision = "auto"
    patience: int = 0
    guessed_epochs: int = 0  # passes over texts with guessed labels; 0: one, or as many as 1,000 steps need
    surest: float = 0.7  # share of the guesses that is learnt from: an unsure one teaches to be unsure
    repeats: int = 2  # how often a labelled row stands in such a pass
    holdout: float = 0.2  # share of the training rows held out where no validation file is given

    def __post_init__(self) -> None:
        if min(self.epochs, self.guessed_epochs) < 0 or min(self.rows, self.repeats) < 1:
            raise ValueError("epochs must not be below 0, rows and repeats at least 1")
        if not all(0 < rate < math.inf for rate in (self.rate, self.scratch_rate)) or not 0 < self.surest <= 1:
            raise ValueError("rates must be above 0, surest must lie in (0, 1]")
        if not 0 <= self.warmup <= 1 or not 0 <= self.weight_decay < math.inf or not self.clip >= 0:
            raise ValueError("warmup must lie between 0 and 1, weight_decay and clip 0 or more")
        if not 0 <= self.dropout < 1 or not 0 < self.layer_decay <= 1 or not 0 < self.holdout < 1:
            raise ValueError("dropout must lie in [0, 1), layer_decay in (0, 1], holdout in (0, 1)")

    def epochs_for(self, labels: int) -> int:
        """Few labels are gone over more often: a body needs some steps, however few texts teach it."""
        enough = math.ceil(FEWEST_STEPS / math.ceil(labels / self.rows))
        return self.epochs or min(max(FEWEST_EPOCHS, enough), MOST_EPOCHS)

    def epochs_with_guesses(self, texts: int) -> int:
        enough = math.ceil(FEWEST_STEPS_WITH_GUESSES / math.ceil(texts / self.rows))
        return self.guessed_epochs or min(enough, MOST_EPOCHS)


@dataclass(frozen=True, kw_only=True)
class Translating:
    """How a translator learns. One tokenizer for both languages or one for each; one table or, at will, two.

    A tokenizer that is trained has at most `model.vocabulary` pieces. `average` models are averaged when the training
    is over, some of its last fifth or those of the best evaluations; the mean is kept if it does better on validation.
    Of the length `penalties` the one that does best there is kept too; one alone is taken as it is.
    """

    vocabularies: Literal["auto", "joint", "separate"] = "auto"  # auto: joint, but where a body knows one language
    shared: bool = True  # one table for both sides, where they have one vocabulary
    smoothing: float = 0.1
    agreement: float = 0.0  # how much two passes under different dropout are to agree; costs a second pass; try 1.25
    tokens: int = 4_096  # of a batch: source and target, padding included
    rows: int = 512  # pairs in a batch, at most
    longest: int = 256  # tokens of either side; longer pairs are left out
    largest_ratio: float = 4.0  # of the sides' lengths; more uneven pairs are left out
    piece_dropout: float = 0.0  # merges of pieces left out by chance: each epoch reads words in other pieces
    average: int = 5
    average_of: Literal["last", "best"] = "last"
    choice: Literal["bleu", "held_out_loss"] = "bleu"
    penalties: tuple[float, ...] = (0.2, 0.6, 1.0, 1.4, 1.8, 2.2)  # the higher, the longer translations become
    bleu_sentences: int = 500  # of the validation, translated greedily at each evaluation
    tokenize: Literal["13a", "intl", "char", "zh", "none"] = "13a"  # how that BLEU cuts words; char where no spaces do
    carries: Literal["reader", "writer", "both"] = "reader"  # what a pretrained body becomes
    carried_rate: float = 1.0  # share of the rate at which what it brought goes on learning; 0: not at all

    def __post_init__(self) -> None:
        for name in ("smoothing", "piece_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but it must lie in [0, 1)")
        if not 0 <= self.agreement < math.inf:
            raise ValueError(f"agreement is {self.agreement}, but it must be 0 (none) or more, such as 1.25")
        if not 0 <= self.carried_rate <= 1:
            raise ValueError(f"carried_rate is {self.carried_rate}, but it must lie in [0, 1]")
        if min(self.tokens, self.rows, self.average, self.bleu_sentences) < 1:
            raise ValueError("tokens, rows, average and bleu_sentences must be at least 1")
        if self.longest < 2 or not 1 <= self.largest_ratio < math.inf:
            raise ValueError("longest must be at least 2 and largest_ratio at least 1")
        if not self.penalties or not all(0 <= penalty <= MOST_PENALTY for penalty in self.penalties):
            raise ValueError(f"penalties is {list(self.penalties)}: give one or more, each from 0 to {MOST_PENALTY}")

    def joint(self, *, warm: bool) -> bool:
        """One tokenizer for both sides? Not where a `warm` body, which read one language, becomes one half."""
        apart = warm and self.carries != "both"
        return self.vocabularies == "joint" or (self.vocabularies == "auto" and not apart)

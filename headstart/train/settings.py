"""How a model is trained; what changes a result stands here, so that the run file is the whole truth."""

from dataclasses import dataclass
from typing import Literal

from headstart.data.framing import Keep
from headstart.train.device import Precision
from headstart.train.optimiser import Decay


@dataclass(frozen=True, kw_only=True)
class Windows:
    """How a corpus is cut for pretraining: `rows` windows of `length` tokens in a batch."""

    rows: int = 16
    length: int = 128
    across: bool = False  # look back into the document before, and count positions through
    holdout: float = 0.01  # share of the documents that is held out

    def __post_init__(self) -> None:
        if min(self.rows, self.length) < 1 or not 0 < self.holdout < 1:
            raise ValueError("rows and length must be at least 1, and holdout must lie between 0 and 1")


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
    precision: Precision = "auto"
    evaluate_every: int = 0
    evaluate_tokens: int = 65_536  # held-out tokens read while training; all of them at the end
    save_every: int = 200
    patience: int = 0  # evaluations without a better score before stopping; 0 never stops

    def __post_init__(self) -> None:
        if not self.rate > 0 or not 0 <= self.warmup <= 1 or not 0 <= self.floor <= 1:
            raise ValueError("rate must be above 0, warmup and floor must lie between 0 and 1")
        if self.accumulate < 1 or min(self.evaluate_every, self.save_every, self.patience, self.weight_decay) < 0:
            raise ValueError("accumulate must be at least 1; every, patience and decay must not be below 0")


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """How a body learns labels. `layer_decay` below 1 lets lower layers learn more slowly."""

    epochs: int = 8
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
    patience: int = 0
    holdout: float = 0.2  # share of the training rows held out where no validation file is given

    def __post_init__(self) -> None:
        if min(self.epochs, self.rows) < 1 or not self.rate > 0 or not self.scratch_rate > 0:
            raise ValueError("epochs and rows must be at least 1, rates above 0")
        if not 0 <= self.dropout < 1 or not 0 < self.layer_decay <= 1 or not 0 < self.holdout < 1:
            raise ValueError("dropout must lie in [0, 1), layer_decay in (0, 1], holdout in (0, 1)")

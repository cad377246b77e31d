"""A run that cannot learn any more is stopped, with the cause and what to change."""

import math
from dataclasses import dataclass

from headstart.errors import DeadRunError

NEAR = 0.01  # nats: closer than this to what knows nothing is knowing nothing
UNKNOWN_RATE = 0.05


@dataclass
class Watch:
    """Looks at the losses of a language model, averaged over the last steps.

    `uniform` is ln V, the loss of a model that has no idea; `unigram` that of one that knows only how often
    each token occurs. Where gradients are `scaled`, one that overflows is skipped and the scale lowered: no death.
    """

    uniform: float
    unigram: float
    warm: int  # steps that a run may take before it is judged
    scaled: bool = False  # float16
    smooth: float = math.nan

    def see(self, step: int, loss: float, norm: float) -> None:
        if not self.scaled or not math.isfinite(loss):
            refuse_overflow(step, loss, norm)
        self.smooth = loss if math.isnan(self.smooth) else 0.95 * self.smooth + 0.05 * loss
        if step < self.warm:
            return
        if self.smooth > self.uniform - NEAR:
            raise DeadRunError(
                f"step {step}: the loss is still {self.smooth:.2f}, that of a blind guess (ln V = {self.uniform:.2f}). "
                "The rate is far too high or zero (--set train.rate=...), or the loss is fed with probabilities "
                "instead of scores"
            )

    def judge(self, step: int, held_out: float) -> str:
        """A sentence where the held-out loss shows that only word counts were learnt; "" otherwise."""
        if step >= self.warm and held_out > self.unigram - NEAR:
            return (
                f"step {step}: the held-out loss {held_out:.2f} is no better than counting words ({self.unigram:.2f}): "
                "the context is not used yet. Try a higher or lower rate (--set train.rate=...) or train longer"
            )
        return ""


def refuse_overflow(step: int, loss: float, norm: float, rate: str = "train.rate") -> None:
    """`rate` is the setting that is most likely to blame."""
    if not math.isfinite(loss) or not math.isfinite(norm):
        raise DeadRunError(
            f"step {step}: the loss is {loss}, the gradient {norm}: numbers have overflowed. "
            f"Lower the rate (--set {rate}=...), or lengthen the warm-up (--set {rate.split('.')[0]}.warmup=0.2)"
        )


def unigram_entropy(counts: list[int]) -> float:
    """The loss, in nats, of always predicting tokens by how often they occur."""
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts if n) if total else 0.0


def unknown_warning(unknown: int, tokens: int) -> str:
    if tokens and unknown / tokens > UNKNOWN_RATE:
        return (
            f"{unknown / tokens:.1%} of the tokens are unknown to this tokenizer: it was made for another language "
            "or script. Train one on this text: headstart tokenizer CORPUS --out DIR"
        )
    return ""


def constant_warning(predicted: list[int], classes: int) -> str:
    """A classifier that always says the same has collapsed."""
    if classes > 1 and len(predicted) >= 10 and len(set(predicted)) == 1:
        return "every validation text gets the same label: lower the rate (--set finetune.rate=...) or try another seed"
    return ""

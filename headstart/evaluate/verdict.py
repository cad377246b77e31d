"""One sentence about what the numbers say, whoever it disappoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from headstart.evaluate.phrases import duration, listed, points, size
from headstart.evaluate.significance import Interval, Paired

WELL_ABOVE = 0.1  # how far the other seeds must be above the majority class before one can be called collapsed
NEAR = 0.25  # a collapsed seed has gained less than this share of what the others gained

Effect = Literal["helps", "noise", "hurts"]
Use = Literal["classic", "pretrained", "scratch", "nothing"]


@dataclass(frozen=True)
class Standing:
    """A system on the test texts. `seconds` are those of one training, pretraining left out."""

    title: str
    accuracy: Interval
    seconds: float
    by_seed: Mapping[int, float]


@dataclass(frozen=True)
class Verdict:
    """`use` is the advice, `effect` what pretraining did; `remarks` are sentences that the reader must not miss."""

    sentence: str
    use: Use
    effect: Effect
    remarks: tuple[str, ...] = ()


def judge(
    *,
    pretrained: Standing,
    scratch: Standing,
    classic: Standing,
    majority: float,
    over_scratch: Paired,
    over_classic: Paired,
    scratch_over_classic: Paired,
) -> Verdict:
    """`classic` is the baseline that was best on validation; a gap above 0 means that the first-named leads."""
    effect = _effect(over_scratch.difference)
    model, gap = (scratch, scratch_over_classic) if effect == "hurts" else (pretrained, over_classic)
    name: Use = "scratch" if effect == "hurts" else "pretrained"
    remarks = _remarks(pretrained, scratch, majority)
    if all(each.accuracy.low <= majority for each in (pretrained, scratch, classic)):
        sentence = (
            f"Nothing was learnt: no system is surely above always saying the commonest class ({majority:.3f}); "
            "look at the labels, or give more of them."
        )
        return Verdict(sentence, "nothing", effect, remarks)
    if gap.difference.low > 0:
        return Verdict(_model_wins(effect, over_scratch, model, classic, gap), name, effect, remarks)
    return Verdict(_classic_wins(effect, over_scratch, model, name, classic, gap), "classic", effect, remarks)


def collapsed(by_seed: Mapping[int, float], majority: float) -> tuple[int, ...]:
    """Seeds at or near the majority class while the others are well above it."""
    found = []
    for seed, accuracy in by_seed.items():
        others = [value for other, value in by_seed.items() if other != seed]
        gained = float(np.median(others)) - majority if others else 0.0
        if gained >= WELL_ABOVE and accuracy < majority + NEAR * gained:
            found.append(seed)
    return tuple(found)


def _effect(difference: Interval) -> Effect:
    return "noise" if not difference.sure else "helps" if difference.low > 0 else "hurts"


def _model_wins(effect: Effect, over_scratch: Paired, model: Standing, classic: Standing, gap: Paired) -> str:
    beats = f"beats the classic baseline ({classic.accuracy.value:.3f}) by {size(gap.difference)}"
    if effect == "helps":
        return (
            f"Pretraining helps by {size(over_scratch.difference)} over the same model from scratch, "
            f"and at {model.accuracy.value:.3f} it {beats}: use the pretrained model."
        )
    if effect == "hurts":
        return (
            f"Pretraining hurts by {size(over_scratch.difference)}: use the same model from scratch, "
            f"which at {model.accuracy.value:.3f} {beats}."
        )
    return (
        f"The difference is noise: pretraining changes accuracy by {points(over_scratch.difference)} against the same "
        f"model from scratch; at {model.accuracy.value:.3f} the pretrained one {beats}."
    )


def _classic_wins(
    effect: Effect, over_scratch: Paired, model: Standing, name: Use, classic: Standing, gap: Paired
) -> str:
    whose = "the pretrained model" if name == "pretrained" else "the model from scratch"
    time = f"in {duration(classic.seconds)} instead of {duration(model.seconds)}"
    if gap.difference.high < 0:
        lead = f"is {size(gap.difference)} better than {whose} ({model.accuracy.value:.3f}), {time}"
    else:
        lead = f"cannot be told from {whose} ({points(gap.difference)}) and is ready {time}"
    about = {
        "helps": f"pretraining does help, by {size(over_scratch.difference)} over scratch, but that is not enough",
        "noise": f"pretraining makes no sure difference to scratch ({points(over_scratch.difference)})",
        "hurts": f"pretraining hurts by {size(over_scratch.difference)} against scratch",
    }[effect]
    return f"Use the classic baseline: {classic.title} ({classic.accuracy.value:.3f}) {lead}; {about}."


def _remarks(pretrained: Standing, scratch: Standing, majority: float) -> tuple[str, ...]:
    remarks = []
    if min(len(pretrained.by_seed), len(scratch.by_seed)) == 1:
        remarks.append("One seed only: the intervals cover other texts, but not the luck of another start.")
    for standing, name in ((pretrained, "pretrained"), (scratch, "scratch")):
        if standing.accuracy.low <= majority:
            remarks.append(
                f"The {name} model ({standing.accuracy.value:.3f}) is not surely above always saying the commonest "
                f"class ({majority:.3f}): it may have learnt nothing."
            )
        lost = collapsed(standing.by_seed, majority)
        if lost:
            kept = [value for seed, value in standing.by_seed.items() if seed not in lost]
            whose = listed([f"{seed} ({standing.by_seed[seed]:.3f})" for seed in lost])
            remarks.append(
                f"Collapsed: {name} with seed {whose} stayed near the majority class ({majority:.3f}); it counts in "
                f"the mean of {standing.accuracy.value:.3f}, without it that would be {np.mean(kept):.3f}."
            )
    return tuple(remarks)

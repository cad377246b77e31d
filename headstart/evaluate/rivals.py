"""One sentence about which of several rivals is best, or that chance alone could have done it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from headstart.evaluate.phrases import duration, listed, points, size
from headstart.evaluate.significance import LEVEL, Interval, Paired
from headstart.evaluate.verdict import Standing, collapsed

Outcome = Literal["sure", "partly", "noise"]
Gaps = Mapping[tuple[str, str], Paired]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Ranking:
    """`leader` is best on the test texts, and `ahead_of` those rivals surely; `use` is the advice.

    The `outcome` is sure where the leader is ahead of every rival, noise where it is surely ahead of none.
    """

    sentence: str
    use: str
    outcome: Outcome
    leader: str
    ahead_of: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def rank(
    rivals: Mapping[str, Standing],
    gaps: Gaps,
    *,
    classic: Standing,
    over_classic: Mapping[str, Paired],
    majority: float,
    terms: str,
) -> Ranking:
    """`gaps` holds each pair of rivals once, either way round; `terms` says what was equal, as "at equal minutes".

    With several pairs one of them differs by luck more easily: p is adjusted for the number of pairs of rivals and,
    apart from them, for the number of rivals put beside the classic baseline (Holm, 1979).
    """
    order = sorted(rivals, key=lambda name: -rivals[name].accuracy.value)
    leader, adjusted = order[0], adjusted_p(gaps)
    behind: list[str] = []
    level: list[str] = []
    for name in order[1:]:
        pair = (leader, name) if (leader, name) in gaps else (name, leader)
        (behind if is_sure(gaps[pair].difference, adjusted[pair]) else level).append(name)
    leads = {name: _lead(gaps, leader, name) for name in order[1:]}
    outcome: Outcome = "noise" if not behind else "partly" if level else "sure"
    remarks = _remarks(rivals, majority)
    if all(each.accuracy.low <= majority for each in (*rivals.values(), classic)):
        sentence = (
            f"Nothing was learnt: no system is surely above always saying the commonest class ({majority:.3f}); "
            "look at the labels, or give more of them."
        )
        return Ranking(sentence, "nothing", outcome, leader, tuple(behind), remarks)
    about, gap = _about_rivals(rivals, leader, leads, behind, level, terms), over_classic[leader].difference
    sure = is_sure(gap, adjusted_p(over_classic)[leader])
    if sure and gap.value > 0:
        who = "It" if outcome == "sure" else f"The highest, {leader},"
        ending = f"{who} beats the classic baseline ({classic.accuracy.value:.3f}) by {size(gap)}: use {leader}."
        return Ranking(f"{about} {ending}", leader, outcome, leader, tuple(behind), remarks)
    ending = _about_classic(classic, leader, rivals[leader], gap, sure)
    return Ranking(f"{about} {ending}", "classic", outcome, leader, tuple(behind), remarks)


def is_sure(gap: Interval, adjusted: float) -> bool:
    """Nought lies outside the interval, and p, adjusted for the number of tests, is below 5 %."""
    return gap.sure and adjusted < 1 - LEVEL


def adjusted_p(gaps: Mapping[Key, Paired]) -> dict[Key, float]:
    """Holm's step-down adjustment: the smallest p times the number of tests, the next times one fewer, and so on."""
    adjusted: dict[Key, float] = {}
    largest = 0.0
    for left, pair in enumerate(sorted(gaps, key=lambda pair: gaps[pair].p)):
        largest = max(largest, min(1.0, (len(gaps) - left) * gaps[pair].p))
        adjusted[pair] = largest
    return adjusted


def _lead(gaps: Gaps, leader: str, other: str) -> Interval:
    if (leader, other) in gaps:
        return gaps[leader, other].difference
    turned = gaps[other, leader].difference
    return Interval(-turned.value, -turned.high, -turned.low)


def _about_rivals(
    rivals: Mapping[str, Standing],
    leader: str,
    leads: Mapping[str, Interval],
    behind: Sequence[str],
    level: Sequence[str],
    terms: str,
) -> str:
    def named(name: str) -> str:
        return f"{name} ({rivals[name].accuracy.value:.3f})"

    begun = terms[:1].upper() + terms[1:]
    losses = listed([f"{size(leads[name])} above {named(name)}" for name in behind])
    if not level:
        return f"{begun}, {named(leader)} is best, {losses}."
    if not behind:
        last = level[-1]
        return (
            f"The difference is noise: {terms}, {listed([named(name) for name in (leader, *level)])} cannot be told "
            f"apart; the largest gap, {leader} over {last}, is {points(leads[last])}."
        )
    gaps = listed([f"{points(leads[name])} to {name}" for name in level])
    return (
        f"{begun}, {listed([named(name) for name in (leader, *level)])} cannot be told apart ({gaps}); "
        f"{leader} is {losses}."
    )


def _about_classic(classic: Standing, leader: str, standing: Standing, gap: Interval, sure: bool) -> str:
    time = f"in {duration(classic.seconds)} instead of {duration(standing.seconds)} and the pretraining before"
    lead = f"is {size(gap)} better than {leader}" if sure else f"cannot be told from {leader} ({points(gap)})"
    return f"Use the classic baseline: {classic.title} ({classic.accuracy.value:.3f}) {lead}, {time}."


def _remarks(rivals: Mapping[str, Standing], majority: float) -> tuple[str, ...]:
    remarks = ["Each body was pretrained once: the intervals cover other texts and seeds, not another pretraining."]
    if any(len(standing.by_seed) == 1 for standing in rivals.values()):
        remarks.append("One seed only: the intervals cover other texts, but not the luck of another start.")
    for name, standing in rivals.items():
        if standing.accuracy.low <= majority:
            remarks.append(
                f"The {name} model ({standing.accuracy.value:.3f}) is not surely above always saying the commonest "
                f"class ({majority:.3f}): it may have learnt nothing."
            )
        for seed in collapsed(standing.by_seed, majority):
            remarks.append(
                f"Collapsed: {name} with seed {seed} ({standing.by_seed[seed]:.3f}) stayed near the majority class "
                f"({majority:.3f}); it counts in the mean of {standing.accuracy.value:.3f}."
            )
    return tuple(remarks)

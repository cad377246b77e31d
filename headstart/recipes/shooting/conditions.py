"""What was not the same for every body of a shoot-out, in sentences that belong to its verdict."""

from collections.abc import Sequence

from headstart.evaluate.phrases import duration, listed
from headstart.model.models import Pooling
from headstart.recipes.finetuning.classifier import pooling_of, suited
from headstart.recipes.shooting.bodies import Body
from headstart.recipes.shooting.rules import Rules

UNEQUAL = 1.15  # the longest pretraining over the shortest, from which on equal minutes were not equal
UNLIKE = 1.5  # the most tokens of a step over the fewest, from which on a step is not a step
PLACES: dict[Pooling, str] = {
    "last": "at the last token of a text",
    "mean": "as the mean of a text's tokens",
    "first": "at <cls>",
}


def conditions(rules: Rules, bodies: Sequence[Body]) -> list[str]:
    return [_reading(rules, bodies), *_minutes(rules, bodies), *_steps(bodies)]


def _reading(rules: Rules, bodies: Sequence[Body]) -> str:
    """How a class head reads each body."""
    options = rules.settings.finetune
    named: dict[Pooling, list[str]] = {}
    for body in bodies:
        causal = body.card.causal
        named.setdefault(pooling_of(suited(options, causal), causal), []).append(body.objective)
    said = [f"{listed(names)} {'are' if len(names) > 1 else 'is'} read {PLACES[at]}" for at, names in named.items()]
    apart = options.pooling == "first" and len(named) > 1
    why = " finetune.pooling is first, but of a causal body the first token has seen nothing." if apart else ""
    return f"For the labels, {'; '.join(said)}.{why}"


def _minutes(rules: Rules, bodies: Sequence[Body]) -> list[str]:
    seconds = [body.cost["seconds"] for body in bodies]
    if rules.equal != "minutes" or max(seconds) < UNEQUAL * min(seconds):
        return []
    times = listed([f"{body.objective} {duration(body.cost['seconds'])}" for body in bodies])
    return [
        f"The minutes were not quite equal: {times}. The steps are fixed by a probe at the start, and the machine was "
        "not equally free; --equal flops does not depend on that."
    ]


def _steps(bodies: Sequence[Body]) -> list[str]:
    each = {body.objective: body.cost["tokens"] / max(1, body.cost["steps"]) for body in bodies}
    if max(each.values()) <= UNLIKE * min(each.values()):
        return []
    sizes = listed([f"{objective} {round(tokens):,}" for objective, tokens in each.items()])
    return [
        f"A step is not the same for all: it computes so many tokens, padding included: {sizes}. So the rate, which "
        "is set by the step, does not suit all of them equally."
    ]

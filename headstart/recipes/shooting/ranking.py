"""From the answers of every arm of a shoot-out to every number of its report; docs/scores.md says what each means."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np

from headstart import __version__
from headstart.config import to_table
from headstart.evaluate.baseline import CLASSICS
from headstart.evaluate.rivals import Ranking, adjusted_p, rank
from headstart.evaluate.significance import Paired, paired
from headstart.model import bill
from headstart.recipes.comparing.answers import Answers
from headstart.recipes.comparing.arms import Arm, Table
from headstart.recipes.comparing.courses import epoch_means
from headstart.recipes.comparing.origins import bill_of, data_of, files_of
from headstart.recipes.comparing.plan import Bench
from headstart.recipes.comparing.systems import (
    System,
    best_classic,
    leaked_rows,
    leaks_of,
    mistakes_of,
    plain,
    remarks_of,
    rights_of,
    scores_of,
    systems_of,
    truth_of,
    warnings_of,
)
from headstart.recipes.pretraining.objectives import OBJECTIVES
from headstart.recipes.running.run_file import machine
from headstart.recipes.shooting.bodies import Body, Ground, scratch_name
from headstart.recipes.shooting.conditions import conditions
from headstart.recipes.shooting.label_race import label_race
from headstart.recipes.shooting.rules import TERMS, Rules

NAMES = {
    "causal": ("pretrained by predicting the next token, fine-tuned", "causal"),
    "masked": ("pretrained by guessing hidden tokens, fine-tuned", "masked"),
    "bert": ("pretrained by guessing hidden tokens and the next sentence, fine-tuned", "bert"),
    "scratch-causal": ("the causal body from scratch", "scratch, looks back"),
    "scratch-bidirectional": ("the body that looks both ways from scratch", "scratch, both ways"),
}
Gaps = dict[tuple[str, str], Paired]


def ranking(
    rules: Rules,
    bench: Bench,
    ground: Ground,
    bodies: Sequence[Body],
    arms: Sequence[Arm],
    answers: Answers,
    openings: int = 1,
) -> Table:
    labels, truth = truth_of(bench.labels, answers.rows)
    names = [(start.system, *NAMES[start.system]) for start in bench.starts]
    systems = systems_of(names, arms, answers, truth, len(labels))
    leaked, best = leaked_rows(bench.leaks, len(truth)), best_classic(systems)
    everything = np.ones_like(leaked)
    kept = ~leaked if not leaked.all() else everything
    pairs = _pairs(rules, systems, best)
    gaps, clean_gaps = _gaps(systems, pairs, everything), _gaps(systems, pairs, kept)
    verdict, clean = (
        _verdict(rules, systems, best, found, texts) for found, texts in ((gaps, everything), (clean_gaps, kept))
    )
    same = (verdict.use, verdict.outcome, verdict.ahead_of) == (clean.use, clean.outcome, clean.ahead_of)
    remarks = remarks_of(int(leaked.sum()), same, clean.sentence, len(labels) - len(bench.labels), openings)
    return {
        "format": 1,
        "kind": "shootout",
        "headstart": __version__,
        "verdict": {
            **vars(verdict),
            "ahead_of": list(verdict.ahead_of),
            "remarks": [*verdict.remarks, *conditions(rules, bodies), *remarks],
        },
        "verdict_without_leaks": clean.sentence,
        "objectives": list(rules.objectives),
        "equal": rules.equal,
        "minutes": rules.minutes,
        "labels": list(labels),
        "seeds": list(rules.seeds),
        "arms": [arm.name for arm in arms],
        "test_openings": openings,
        "best_classic": best,
        "systems": [scores_of(system, truth, leaked, answers) for system in systems.values()],
        "comparisons": _comparisons(rules, gaps, clean_gaps),
        "pretraining": [_pretraining(body, systems[body.objective]) for body in bodies],
        "by_epoch": {start.system: epoch_means(systems[start.system].courses) for start in bench.starts},
        "label_curve": label_race(rights_of(arms, answers, truth), rules.objectives, len(bench.train)),
        "mistakes": mistakes_of(systems[verdict.leader], systems[best], truth, labels, answers.rows, leaked),
        "leaks": leaks_of(bench.leaks, answers.rows),
        "data": data_of(rules, bench, answers.rows),
        "corpus": _corpus(ground),
        "bill": bill_of(bench),
        "settings": {
            name: to_table(getattr(bench.settings, name)) for name in ("model", "reading", "data", "train", "finetune")
        },
        "ledgers": {start.system: systems[start.system].results[0]["ledger"] for start in bench.starts},
        "warnings": warnings_of(arms, answers),
        "machine": machine(),
        "command": rules.command,
    }


def _pairs(rules: Rules, systems: Mapping[str, System], best: str) -> list[tuple[str, str]]:
    """The objectives among each other, each against the classic baseline, and against its body from scratch."""
    scratch = [(name, scratch_name(OBJECTIVES[name].causal)) for name in rules.objectives]
    classic = [(name, best) for name in rules.objectives]
    return [*combinations(rules.objectives, 2), *classic, *(pair for pair in scratch if pair[1] in systems)]


def _gaps(systems: Mapping[str, System], pairs: Sequence[tuple[str, str]], kept: np.ndarray) -> Gaps:
    return {(one, other): paired(systems[one].right[:, kept], systems[other].right[:, kept]) for one, other in pairs}


def _among(rules: Rules, gaps: Gaps) -> Gaps:
    return {pair: gaps[pair] for pair in combinations(rules.objectives, 2)}


def _verdict(rules: Rules, systems: Mapping[str, System], best: str, gaps: Gaps, kept: np.ndarray) -> Ranking:
    return rank(
        {name: systems[name].standing(kept) for name in rules.objectives},
        _among(rules, gaps),
        classic=systems[best].standing(kept),
        over_classic={name: gaps[name, best] for name in rules.objectives},
        majority=float(systems["majority"].right[:, kept].mean()),
        terms=TERMS[rules.equal],
    )


def _comparisons(rules: Rules, gaps: Gaps, clean: Gaps) -> list[Table]:
    """`p_adjusted` allows for the number of pairs of objectives, or of objectives beside the classic baseline."""
    adjusted, adjusted_clean = _adjusted(rules, gaps), _adjusted(rules, clean)
    return [
        {
            "first": pair[0],
            "second": pair[1],
            **plain(gaps[pair]),
            "p_adjusted": adjusted.get(pair),
            "without_leaks": {**plain(clean[pair]), "p_adjusted": adjusted_clean.get(pair)},
        }
        for pair in gaps
    ]


def _adjusted(rules: Rules, gaps: Gaps) -> dict[tuple[str, str], float]:
    """Two families of tests; what a body from scratch is behind belongs to neither."""
    classics = {kind.name for kind in CLASSICS}
    over_classic = {pair: gap for pair, gap in gaps.items() if pair[1] in classics}
    return adjusted_p(_among(rules, gaps)) | adjusted_p(over_classic)


def _pretraining(body: Body, system: System) -> Table:
    """What a body cost, what it came to on held-out text, and what one fine-tuning of it takes."""
    card = body.card
    return {
        "objective": body.objective,
        "folder": str(body.folder),
        "checkpoint": system.arms[0].inputs["from"],
        "parameters": bill.total(bill.bill(card.shape, card.task)),
        **{name: value for name, value in body.cost.items() if name != "scores"},
        "bits_per_byte": body.cost["scores"].get("bits_per_byte"),
        "held_out": body.cost["scores"],
        "finetuning_seconds": system.mean("seconds"),
    }


def _corpus(ground: Ground) -> Table:
    card = ground.store.card
    return {
        "files": files_of(ground.corpus.files),
        "fingerprint": card.corpus,
        "tokenizer": ground.tokenizer.hash,
        "vocabulary": ground.tokenizer.size,
        "train": asdict(card.train),
        "held_out": asdict(card.valid),
    }

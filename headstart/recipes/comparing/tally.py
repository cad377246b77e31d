"""From the answers of every arm to every number of the report; docs/scores.md says what each of them means."""

from collections.abc import Mapping, Sequence

import numpy as np

from headstart import __version__
from headstart.config import to_table
from headstart.evaluate.significance import Paired, paired
from headstart.evaluate.verdict import Verdict, judge
from headstart.recipes.comparing.answers import Answers
from headstart.recipes.comparing.arms import NEURAL, Arm, Table
from headstart.recipes.comparing.courses import by_epoch, label_curve, saved_time
from headstart.recipes.comparing.origins import bill_of, data_of, run_of
from headstart.recipes.comparing.plan import Bench, Request
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
from headstart.recipes.running.run_file import machine

NAMES = (
    ("pretrained", "pretrained, fine-tuned", "pretrained"),
    ("scratch", "same model from scratch", "from scratch"),
)
Gaps = dict[tuple[str, str], Paired]


def tally(request: Request, bench: Bench, arms: Sequence[Arm], answers: Answers, openings: int = 1) -> Table:
    labels, truth = truth_of(bench.labels, answers.rows)
    systems = systems_of(NAMES, arms, answers, truth, len(labels))
    leaked, best = leaked_rows(bench.leaks, len(truth)), best_classic(systems)
    everything = np.ones_like(leaked)
    kept = ~leaked if not leaked.all() else everything
    gaps, clean_gaps = _gaps(systems, best, everything), _gaps(systems, best, kept)
    verdict, clean = _verdict(systems, best, gaps, everything), _verdict(systems, best, clean_gaps, kept)
    same = (verdict.use, verdict.effect) == (clean.use, clean.effect)
    remarks = remarks_of(int(leaked.sum()), same, clean.sentence, len(labels) - len(bench.labels), openings)
    return {
        "format": 1,
        "headstart": __version__,
        "verdict": {**vars(verdict), "remarks": [*verdict.remarks, *remarks]},
        "verdict_without_leaks": clean.sentence,
        "labels": list(labels),
        "seeds": list(request.seeds),
        "arms": [arm.name for arm in arms],
        "test_openings": openings,
        "best_classic": best,
        "systems": [scores_of(system, truth, leaked, answers) for system in systems.values()],
        "comparisons": [
            {"first": pair[0], "second": pair[1], **plain(gaps[pair]), "without_leaks": plain(clean_gaps[pair])}
            for pair in gaps
        ],
        "by_epoch": by_epoch({name: systems[name].courses for name in NEURAL}),
        "label_curve": label_curve(rights_of(arms, answers, truth), len(bench.train)),
        "time": saved_time({name: systems[name].courses for name in NEURAL}, request.run),
        "mistakes": mistakes_of(systems["pretrained"], systems[best], truth, labels, answers.rows, leaked),
        "leaks": leaks_of(bench.leaks, answers.rows),
        "data": data_of(request, bench, answers.rows),
        "bill": bill_of(bench),
        "run": run_of(request, bench),
        "settings": {name: to_table(getattr(bench.settings, name)) for name in ("model", "reading", "finetune")},
        "ledger": systems["pretrained"].results[0]["ledger"],
        "warnings": warnings_of(arms, answers),
        "machine": machine(),
        "command": request.command,
    }


def _gaps(systems: Mapping[str, System], best: str, kept: np.ndarray) -> Gaps:
    pairs = [("pretrained", "scratch"), ("pretrained", best), ("scratch", best)]
    return {(one, other): paired(systems[one].right[:, kept], systems[other].right[:, kept]) for one, other in pairs}


def _verdict(systems: Mapping[str, System], best: str, gaps: Gaps, kept: np.ndarray) -> Verdict:
    return judge(
        pretrained=systems["pretrained"].standing(kept),
        scratch=systems["scratch"].standing(kept),
        classic=systems[best].standing(kept),
        majority=float(systems["majority"].right[:, kept].mean()),
        over_scratch=gaps["pretrained", "scratch"],
        over_classic=gaps["pretrained", best],
        scratch_over_classic=gaps["scratch", best],
    )

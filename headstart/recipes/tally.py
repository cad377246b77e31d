"""From the answers of every arm to every number of the report; docs/scores.md says what each of them means."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from headstart import __version__
from headstart.config import to_table
from headstart.evaluate.baseline import CLASSICS
from headstart.evaluate.calibration import abstention
from headstart.evaluate.scores import Scores, calibration_error, confusion, reliability, score
from headstart.evaluate.significance import Paired, accuracy_interval, paired
from headstart.evaluate.verdict import Standing, Verdict, collapsed, judge
from headstart.recipes.answers import Answers
from headstart.recipes.arms import NEURAL, Arm, Table
from headstart.recipes.courses import by_epoch, label_curve, saved_time
from headstart.recipes.origins import bill_of, data_of, run_of
from headstart.recipes.plan import Bench, Request
from headstart.recipes.run_file import machine
from headstart.text.records import Row

TITLES = {"pretrained": "pretrained, fine-tuned", "scratch": "same model from scratch"} | {
    kind.name: kind.title for kind in CLASSICS
}
SHORT = {
    "pretrained": "pretrained",
    "scratch": "from scratch",
    "characters": "TF-IDF words + characters",
    "words": "TF-IDF words",
    "majority": "majority class",
}
SYSTEMS = (*NEURAL, *(kind.name for kind in reversed(CLASSICS)))
Gaps = dict[tuple[str, str], Paired]
MISTAKES = 12
SHOWN = 400  # characters of a mistaken text


@dataclass(frozen=True, eq=False)
class System:
    """One system on all labels: its arms, its probabilities (S, N, C), and which texts it got right (S, N)."""

    name: str
    arms: list[Arm]
    probabilities: np.ndarray
    right: np.ndarray
    results: list[Table]

    def mean(self, *path: str) -> float:
        """The mean over seeds of a figure that the arms recorded."""
        return float(np.mean([_at(result, path) for result in self.results]))


def tally(request: Request, bench: Bench, arms: Sequence[Arm], answers: Answers, openings: int = 1) -> Table:
    labels, truth = _truth(bench.labels, answers.rows)
    systems = {name: _system(name, arms, answers, truth, len(labels)) for name in SYSTEMS}
    leaked = np.zeros(len(truth), dtype=bool)
    leaked[sorted(bench.leaks.rows)] = True
    best = max(CLASSICS, key=lambda kind: _choice(systems[kind.name])).name
    everything = np.ones_like(leaked)
    kept = ~leaked if not leaked.all() else everything
    gaps, clean_gaps = _gaps(systems, best, everything), _gaps(systems, best, kept)
    verdict, clean = _verdict(systems, best, gaps, everything), _verdict(systems, best, clean_gaps, kept)
    unknown = len(labels) - len(bench.labels)
    remarks = [*verdict.remarks, *_leak_remarks(verdict, clean, int(leaked.sum())), *_unknown_remarks(unknown)]
    if openings > 1:
        remarks.append(f"The test was opened {openings} times: arms were added after its result was known.")
    return {
        "format": 1,
        "headstart": __version__,
        "verdict": {"sentence": verdict.sentence, "use": verdict.use, "effect": verdict.effect, "remarks": remarks},
        "verdict_without_leaks": clean.sentence,
        "labels": list(labels),
        "seeds": list(request.seeds),
        "arms": [arm.name for arm in arms],
        "test_openings": openings,
        "best_classic": best,
        "systems": [_scores_of(systems[name], truth, leaked, answers) for name in SYSTEMS],
        "comparisons": [
            {"first": pair[0], "second": pair[1], **_plain(gaps[pair]), "without_leaks": _plain(clean_gaps[pair])}
            for pair in gaps
        ],
        "by_epoch": by_epoch({name: _courses(systems[name]) for name in NEURAL}),
        "label_curve": label_curve(_rights(arms, answers, truth), len(bench.train)),
        "time": saved_time({name: _courses(systems[name]) for name in NEURAL}, request.run),
        "mistakes": _mistakes(systems["pretrained"], systems[best], truth, labels, answers.rows, leaked),
        "leaks": {
            "test_rows": int(leaked.sum()),
            "places": [f"{answers.rows[i].source}:{answers.rows[i].line}" for i in sorted(bench.leaks.rows)],
            "overlaps": bench.leaks.overlaps,
            "sentences": list(bench.leaks.sentences),
            "corpus": bench.leaks.corpus,
        },
        "data": data_of(request, bench, answers.rows),
        "bill": bill_of(bench),
        "run": run_of(request, bench),
        "settings": {name: to_table(getattr(bench.settings, name)) for name in ("model", "reading", "finetune")},
        "ledger": systems["pretrained"].results[0]["ledger"],
        "warnings": _warnings(arms, answers),
        "machine": machine(),
        "command": request.command,
    }


def _truth(known: tuple[str, ...], rows: Sequence[Row]) -> tuple[tuple[str, ...], np.ndarray]:
    """Labels that training never had come last; no system can name them, so their texts count as mistakes."""
    strange = tuple(sorted({row.label for row in rows} - set(known)))
    numbers = {label: number for number, label in enumerate((*known, *strange))}
    return (*known, *strange), np.array([numbers[row.label] for row in rows])


def _system(name: str, arms: Sequence[Arm], answers: Answers, truth: np.ndarray, classes: int) -> System:
    own = [arm for arm in arms if arm.system == name and not arm.few]
    shares = np.stack([widened(answers.probabilities[arm.name], classes) for arm in own])  # (S, N, C)
    return System(name, own, shares, shares.argmax(2) == truth, [answers.results[arm.name] for arm in own])


def widened(probabilities: np.ndarray, classes: int) -> np.ndarray:
    missing = classes - probabilities.shape[1]
    return np.pad(probabilities, ((0, 0), (0, missing)))


def _choice(system: System) -> tuple[float, float]:
    """Which classic baseline stands for all is decided on validation."""
    return system.mean("valid", "accuracy"), -system.mean("valid", "log_loss")


def _gaps(systems: Mapping[str, System], best: str, kept: np.ndarray) -> Gaps:
    pairs = [("pretrained", "scratch"), ("pretrained", best), ("scratch", best)]
    return {(one, other): paired(systems[one].right[:, kept], systems[other].right[:, kept]) for one, other in pairs}


def _verdict(systems: Mapping[str, System], best: str, gaps: Gaps, kept: np.ndarray) -> Verdict:
    def standing(name: str) -> Standing:
        right = systems[name].right[:, kept]
        by_seed = {arm.seed: float(mean) for arm, mean in zip(systems[name].arms, right.mean(1))}
        return Standing(TITLES[name], accuracy_interval(right), systems[name].mean("seconds"), by_seed)

    return judge(
        pretrained=standing("pretrained"),
        scratch=standing("scratch"),
        classic=standing(best),
        majority=float(systems["majority"].right[:, kept].mean()),
        over_scratch=gaps["pretrained", "scratch"],
        over_classic=gaps["pretrained", best],
        scratch_over_classic=gaps["scratch", best],
    )


def _leak_remarks(verdict: Verdict, clean: Verdict, leaked: int) -> list[str]:
    if not leaked:
        return []
    texts = f"{leaked:,} test text{'s' if leaked > 1 else ''} also stood in what was read before the test"
    if (verdict.use, verdict.effect) == (clean.use, clean.effect):
        return [f"{texts}; without them the verdict is the same."]
    return [f"{texts}; without them the verdict is another: {clean.sentence}"]


def _unknown_remarks(unknown: int) -> list[str]:
    what = "a label" if unknown == 1 else f"{unknown} labels"
    return [f"The test has {what} that training never had; those texts count as mistakes."] if unknown else []


def _scores_of(system: System, truth: np.ndarray, leaked: np.ndarray, answers: Answers) -> Table:
    found = [score(truth, shares) for shares in system.probabilities]
    everywhere, truths = np.concatenate(system.probabilities), np.tile(truth, len(found))
    bins = reliability(truths, everywhere)
    clean = asdict(accuracy_interval(system.right[:, ~leaked])) if not leaked.all() else None
    means = {name: float(np.mean([getattr(one, name) for one in found])) for name in ("macro_f1", "log_loss")}
    return {
        "name": system.name,
        "title": TITLES[system.name],
        "short": SHORT[system.name],
        "neural": system.name in NEURAL,
        "accuracy": asdict(accuracy_interval(system.right)),
        "accuracy_without_leaks": clean,
        "valid_accuracy": system.mean("valid", "accuracy"),
        **means,
        "calibration_error": calibration_error(bins),
        "seconds": system.mean("seconds"),
        "predict_seconds": float(np.mean([answers.seconds[arm.name] for arm in system.arms])),
        "seeds": [_seed_of(arm, one, result) for arm, one, result in zip(system.arms, found, system.results)],
        "collapsed": list(collapsed({arm.seed: one.accuracy for arm, one in zip(system.arms, found)}, _common(truth))),
        "confusion": confusion(truths, everywhere.argmax(1), everywhere.shape[1]).tolist(),
        "bins": [asdict(each) for each in bins],
        "abstention": [asdict(each) for each in abstention(truths, everywhere)],
    }


def _seed_of(arm: Arm, found: Scores, result: Table) -> Table:
    figures = {name: getattr(found, name) for name in ("accuracy", "macro_f1", "log_loss", "calibration_error")}
    chosen: Table = {name: result[name] for name in ("best", "strength", "temperature") if name in result}
    valid = result["valid"]["accuracy"]
    return {"seed": arm.seed, **figures, "valid_accuracy": valid, "seconds": result["seconds"], **chosen}


def _plain(found: Paired) -> Table:
    return {"difference": asdict(found.difference), "p": found.p, "ahead": found.ahead, "seeds": found.seeds}


def _warnings(arms: Sequence[Arm], answers: Answers) -> list[Table]:
    """What the trainings warned of, each sentence once, with the arms that it is about."""
    found: dict[str, list[str]] = {}
    for arm in arms:
        for warning in answers.results[arm.name]["warnings"]:
            found.setdefault(warning, []).append(arm.name)
    return [{"sentence": sentence, "arms": names} for sentence, names in found.items()]


def _courses(system: System) -> dict[int, list[Table]]:
    """For each seed, what was recorded after each epoch."""
    return {arm.seed: result["epochs"] for arm, result in zip(system.arms, system.results)}


def _rights(arms: Sequence[Arm], answers: Answers, truth: np.ndarray) -> dict[str, dict[int, np.ndarray]]:
    """For each system and number of labels, (S, N): which texts were answered rightly."""
    grouped: dict[str, dict[int, list[np.ndarray]]] = {}
    for arm in arms:
        right = answers.probabilities[arm.name].argmax(1) == truth
        grouped.setdefault(arm.system, {}).setdefault(len(arm.rows), []).append(right)
    return {name: {n: np.stack(rights) for n, rights in sorted(found.items())} for name, found in grouped.items()}


def _mistakes(
    system: System,
    classic: System,
    truth: np.ndarray,
    labels: Sequence[str],
    rows: Sequence[Row],
    leaked: np.ndarray,
) -> list[Table]:
    """Where the pretrained model, its seeds averaged, was wrong and surest of it."""
    shares = system.probabilities.mean(0)  # (N, C)
    called, sure = shares.argmax(1), shares.max(1)
    wrong = np.flatnonzero(called != truth)
    return [
        {
            "place": f"{rows[i].source}:{rows[i].line}",
            "text": shortened(rows[i].text),
            "label": labels[truth[i]],
            "predicted": labels[called[i]],
            "probability": float(sure[i]),
            "classic_right": bool(classic.right[:, i].any()),
            "leaked": bool(leaked[i]),
        }
        for i in wrong[np.argsort(-sure[wrong], kind="stable")][:MISTAKES]
    ]


def shortened(text: str) -> str:
    """The beginning and the end, where a reviewer says what they mean."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2].rstrip()} … {text[-SHOWN // 2 :].lstrip()}"


def _common(truth: np.ndarray) -> float:
    return float(np.bincount(truth).max() / len(truth))


def _at(table: Any, path: Sequence[str]) -> float:
    for name in path:
        table = table[name]
    return float(table)

"""What each system of a comparison answered to the test, and every figure about it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from headstart.evaluate.baseline import CLASSICS
from headstart.evaluate.calibration import abstention
from headstart.evaluate.scores import Scores, calibration_error, confusion, reliability, score
from headstart.evaluate.significance import Paired, accuracy_interval
from headstart.evaluate.verdict import Standing, collapsed
from headstart.recipes.comparing.answers import Answers
from headstart.recipes.comparing.arms import Arm, Table
from headstart.recipes.comparing.leaks import Leaks
from headstart.text.records import Row

MISTAKES = 12
SHOWN = 400  # characters of a mistaken text
CLASSIC_NAMES = {"characters": "TF-IDF words + characters", "words": "TF-IDF words", "majority": "majority class"}


@dataclass(frozen=True, eq=False)
class System:
    """One system on all labels: its arms, its probabilities (S, N, C), and which texts it got right (S, N).

    `title` says in full what it is, `short` is for the heads of tables.
    """

    name: str
    title: str
    short: str
    arms: list[Arm]
    probabilities: np.ndarray
    right: np.ndarray
    results: list[Table]

    def mean(self, *path: str) -> float:
        """The mean over seeds of a figure that the arms recorded."""
        return float(np.mean([_at(result, path) for result in self.results]))

    def standing(self, kept: np.ndarray) -> Standing:
        """On the test texts that are `kept`."""
        right = self.right[:, kept]
        by_seed = {arm.seed: float(mean) for arm, mean in zip(self.arms, right.mean(1))}
        return Standing(self.title, accuracy_interval(right), self.mean("seconds"), by_seed)

    @property
    def courses(self) -> dict[int, list[Table]]:
        """For each seed, what was recorded after each epoch."""
        return {arm.seed: result["epochs"] for arm, result in zip(self.arms, self.results)}


def truth_of(known: tuple[str, ...], rows: Sequence[Row]) -> tuple[tuple[str, ...], np.ndarray]:
    """Labels that training never had come last; no system can name them, so their texts count as mistakes."""
    strange = tuple(sorted({row.label for row in rows} - set(known)))
    numbers = {label: number for number, label in enumerate((*known, *strange))}
    return (*known, *strange), np.array([numbers[row.label] for row in rows])


def systems_of(
    names: Sequence[tuple[str, str, str]], arms: Sequence[Arm], answers: Answers, truth: np.ndarray, classes: int
) -> dict[str, System]:
    """`names` are the name, the title and the short name of each neural system; the classic ones follow, best first."""
    classics = [(kind.name, kind.title, CLASSIC_NAMES[kind.name]) for kind in reversed(CLASSICS)]
    found = {}
    for name, title, short in (*names, *classics):
        own = [arm for arm in arms if arm.system == name and not arm.few]
        shares = np.stack([widened(answers.probabilities[arm.name], classes) for arm in own])  # (S, N, C)
        results = [answers.results[arm.name] for arm in own]
        found[name] = System(name, title, short, own, shares, shares.argmax(2) == truth, results)
    return found


def widened(probabilities: np.ndarray, classes: int) -> np.ndarray:
    missing = classes - probabilities.shape[1]
    return np.pad(probabilities, ((0, 0), (0, missing)))


def best_classic(systems: dict[str, System]) -> str:
    """Which classic baseline stands for all is decided on validation."""

    def choice(name: str) -> tuple[float, float]:
        return systems[name].mean("valid", "accuracy"), -systems[name].mean("valid", "log_loss")

    return max((kind.name for kind in CLASSICS), key=choice)


def leaked_rows(leaks: Leaks, texts: int) -> np.ndarray:
    """(N,): which of the test texts stood elsewhere too."""
    leaked = np.zeros(texts, dtype=bool)
    leaked[sorted(leaks.rows)] = True
    return leaked


def leaks_of(leaks: Leaks, rows: Sequence[Row]) -> Table:
    return {
        "test_rows": len(leaks.rows),
        "places": [f"{rows[i].source}:{rows[i].line}" for i in sorted(leaks.rows)],
        "overlaps": leaks.overlaps,
        "sentences": list(leaks.sentences),
        "corpus": leaks.corpus,
    }


def remarks_of(leaked: int, same: bool, without: str, unknown: int, openings: int) -> list[str]:
    """Sentences that belong to a verdict: whether it is the `same` `without` the leaks, and how the test was used."""
    remarks = []
    if leaked:
        texts = f"{leaked:,} test text{'s' if leaked > 1 else ''} also stood in what was read before the test"
        remarks.append(f"{texts}; without them the verdict is {'the same.' if same else f'another: {without}'}")
    if unknown:
        what = "a label" if unknown == 1 else f"{unknown} labels"
        remarks.append(f"The test has {what} that training never had; those texts count as mistakes.")
    if openings > 1:
        remarks.append(f"The test was opened {openings} times: arms were added after its result was known.")
    return remarks


def scores_of(system: System, truth: np.ndarray, leaked: np.ndarray, answers: Answers) -> Table:
    found = [score(truth, shares) for shares in system.probabilities]
    everywhere, truths = np.concatenate(system.probabilities), np.tile(truth, len(found))
    bins = reliability(truths, everywhere)
    clean = asdict(accuracy_interval(system.right[:, ~leaked])) if not leaked.all() else None
    means = {name: float(np.mean([getattr(one, name) for one in found])) for name in ("macro_f1", "log_loss")}
    return {
        "name": system.name,
        "title": system.title,
        "short": system.short,
        "neural": system.arms[0].neural,
        "accuracy": asdict(accuracy_interval(system.right)),
        "accuracy_without_leaks": clean,
        "valid_accuracy": system.mean("valid", "accuracy"),
        **means,
        "calibration_error": calibration_error(bins),
        "seconds": system.mean("seconds"),
        "threads": max(result.get("threads", 0) for result in system.results),
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


def plain(found: Paired) -> Table:
    return {"difference": asdict(found.difference), "p": found.p, "ahead": found.ahead, "seeds": found.seeds}


def warnings_of(arms: Sequence[Arm], answers: Answers) -> list[Table]:
    """What the trainings warned of, each sentence once, with the arms that it is about."""
    found: dict[str, list[str]] = {}
    for arm in arms:
        for warning in answers.results[arm.name]["warnings"]:
            found.setdefault(warning, []).append(arm.name)
    return [{"sentence": sentence, "arms": names} for sentence, names in found.items()]


def rights_of(arms: Sequence[Arm], answers: Answers, truth: np.ndarray) -> dict[str, dict[int, np.ndarray]]:
    """For each system and number of labels, (S, N): which texts were answered rightly."""
    grouped: dict[str, dict[int, list[np.ndarray]]] = {}
    for arm in arms:
        right = answers.probabilities[arm.name].argmax(1) == truth
        grouped.setdefault(arm.system, {}).setdefault(len(arm.rows), []).append(right)
    return {name: {n: np.stack(rights) for n, rights in sorted(found.items())} for name, found in grouped.items()}


def mistakes_of(
    system: System,
    classic: System,
    truth: np.ndarray,
    labels: Sequence[str],
    rows: Sequence[Row],
    leaked: np.ndarray,
) -> list[Table]:
    """Where a system, its seeds averaged, was wrong and surest of it; a row that stands twice is told once."""
    shares = system.probabilities.mean(0)  # (N, C)
    called, sure = shares.argmax(1), shares.max(1)
    wrong = np.flatnonzero(called != truth)
    by_surety = wrong[np.argsort(sure[wrong], kind="stable")]
    surest = {(rows[i].text, rows[i].text_b): i for i in by_surety}  # the last one stays
    return [
        {
            "place": f"{rows[i].source}:{rows[i].line}",
            "text": shortened(rows[i].text),
            "text_b": shortened(rows[i].text_b),
            "label": labels[truth[i]],
            "predicted": labels[called[i]],
            "probability": float(sure[i]),
            "classic_right": bool(classic.right[:, i].any()),
            "leaked": bool(leaked[i]),
        }
        for i in sorted(surest.values(), key=lambda i: -sure[i])[:MISTAKES]
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

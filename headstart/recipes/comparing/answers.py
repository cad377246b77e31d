"""The one place where the test is opened."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headstart.recipes.comparing.arms import RESULT, TEST, Arm, Table, read_json, write_json
from headstart.recipes.comparing.one_arm import Tools, answer
from headstart.recipes.comparing.plan import Bench, Contest
from headstart.recipes.labels import hash_rows
from headstart.text.readers import read_rows
from headstart.text.records import Row


@dataclass(frozen=True, kw_only=True)
class Answers:
    """`rows` are the test rows with their labels; for each arm the (N, C) probabilities and what it recorded."""

    rows: Sequence[Row]
    probabilities: Mapping[str, np.ndarray]
    seconds: Mapping[str, float]
    results: Mapping[str, Table]


def open_test(contest: Contest, bench: Bench, arms: Sequence[Arm], say: Callable[[str], None], tools: Tools) -> Answers:
    """Every arm is finished, so nothing can be chosen by the test any more: answers first, then the labels."""
    unfinished = [arm.name for arm in arms if not arm.finished(contest.out)]
    assert not unfinished, f"the test was about to be opened before {unfinished[0]} was finished"
    say(f"Every arm is finished. Now the {len(bench.test):,} test texts are read.")
    texts = hash_rows(bench.test)
    probabilities, seconds = {}, {}
    for arm in arms:
        path = arm.folder(contest.out) / TEST
        if not path.is_file() or read_json(path)["texts"] != texts:
            write_json(path, {"texts": texts, **answer(arm, bench, contest, tools)})
        found = read_json(path)
        probabilities[arm.name], seconds[arm.name] = np.array(found["probabilities"]), float(found["seconds"])
        if arm.neural and arm.few:
            shutil.rmtree(arm.folder(contest.out) / "best", ignore_errors=True)  # a curve needs its points only
    rows = list(read_rows(contest.test, contest.settings.reading))
    results = {arm.name: read_json(arm.folder(contest.out) / RESULT) for arm in arms}
    return Answers(rows=rows, probabilities=probabilities, seconds=seconds, results=results)

"""Every arm of a comparison in turn; those that are finished are kept."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from headstart.recipes.comparing.arms import RESULT, Arm, Table, read_json
from headstart.recipes.comparing.one_arm import Progress, Tools, Unseen, train_arm
from headstart.recipes.comparing.plan import Bench, Contest
from headstart.recipes.comparing.side_by_side import jobs_for, train_side_by_side

Show = Callable[[str], AbstractContextManager[Progress]]


def unseen(title: str) -> AbstractContextManager[Progress]:
    """Nobody watches the trainings."""
    return nullcontext(Unseen())


def train_arms(
    arms: Sequence[Arm], bench: Bench, contest: Contest, say: Callable[[str], None], show: Show, tools: Tools
) -> None:
    """`say` hears a sentence for each arm, and each warning once; `show(title)` gives what watches the training."""
    warned: list[str] = []

    def tell(arm: Arm) -> None:
        result = read_json(arm.folder(contest.out) / RESULT)
        say(f"{arms.index(arm) + 1} of {len(arms)}: {arm.name}: {_in_words(result)}")
        for warning in result["warnings"]:
            if warning not in warned:
                warned.append(warning)
                say(f"  {warning}")

    left = [arm for arm in arms if not arm.finished(contest.out)]
    if (jobs := jobs_for(contest, bench, left)) > 1:
        for arm in arms:
            if arm not in left:
                tell(arm)
        with show(f"{len(left)} trainings, {jobs} at a time") as progress:
            train_side_by_side(left, jobs, bench, contest, progress, tools, tell)
        return
    for number, arm in enumerate(arms, start=1):
        if arm in left:
            with show(f"{number} of {len(arms)}: {arm.name}") as progress:
                train_arm(arm, bench, contest, progress, tools)
        tell(arm)


def openings(scores: Path, arms: Sequence[Arm]) -> int:
    """How often the test has been opened for this comparison; to see the same arms again does not count."""
    try:
        before = json.loads(scores.read_text("utf-8"))
        return int(before["test_openings"]) + (before["arms"] != [arm.name for arm in arms])
    except (OSError, ValueError, KeyError):  # none yet, or damaged: it is about to be written anew
        return 1


def _in_words(result: Table) -> str:
    accuracy = f"validation accuracy {result['valid']['accuracy']:.4f}"
    best = f", best epoch {result['best']} of {len(result['epochs'])}" if "best" in result else ""
    return f"{accuracy}{best}, {result['seconds']:.1f} s"

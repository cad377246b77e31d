"""What was the head start worth? The same model from scratch and from a pretrained run, beside the classic baselines.

    read and look for leaks -> plan the arms -> train each arm -> (every choice is made) -> open the test -> report

Test labels and predictions exist only in the last two stages. Finished arms are kept; --resume does the rest.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from headstart.recipes.answers import open_test
from headstart.recipes.arms import ARMS, RESULT, Arm, Table, read_json, refuse_changed, write_json
from headstart.recipes.occupied import refuse_occupied
from headstart.recipes.one_arm import Progress, Tools, Unseen, train_arm
from headstart.recipes.plan import Request, plan, prepare
from headstart.recipes.tally import tally
from headstart.recipes.training import ignore
from headstart.report.page import write_page
from headstart.train.lock import Lock

__all__ = ["Compared", "Progress", "Tools", "compare"]
SCORES, PAGE = "scores.json", "report.html"


@dataclass(frozen=True)
class Compared:
    """`scores` is what stands in scores.json."""

    folder: Path
    scores: Table

    @property
    def page(self) -> Path:
        return self.folder / PAGE


def compare(
    request: Request,
    *,
    resume: bool = False,
    force: bool = False,
    say: Callable[[str], None] = ignore,
    show: Callable[[str], AbstractContextManager[Progress]] = lambda title: nullcontext(Unseen()),
    tools: Tools = Tools(),  # noqa: B008 (frozen)
) -> Compared:
    """`say` hears a sentence for each finding and arm; `show(title)` gives what watches one training."""
    out = request.out
    refuse_occupied(out, force=force, resume=resume)
    with Lock(out):
        if force and not resume:
            _clear(out)
        bench = prepare(request, say)
        arms = plan(request, bench)
        refuse_changed(arms, out)
        warned: list[str] = []
        for number, arm in enumerate(arms, start=1):
            title = f"{number} of {len(arms)}: {arm.name}"
            if not arm.finished(out):
                with show(title) as progress:
                    train_arm(arm, bench, request, progress, tools)
            result = read_json(arm.folder(out) / RESULT)
            say(f"{title}: {_in_words(result)}")
            for warning in result["warnings"]:
                if warning not in warned:
                    warned.append(warning)
                    say(f"  {warning}")
        answers = open_test(request, bench, arms, say, tools)
        scores = tally(request, bench, arms, answers, _openings(out, arms))
        write_json(out / SCORES, scores)
        write_page(out / SCORES, out / PAGE)
    return Compared(out, scores)


def _openings(out: Path, arms: Sequence[Arm]) -> int:
    """How often the test has been opened for this comparison; to see the same arms again does not count."""
    try:
        before = json.loads((out / SCORES).read_text("utf-8"))
        return int(before["test_openings"]) + (before["arms"] != [arm.name for arm in arms])
    except (OSError, ValueError, KeyError):  # none yet, or damaged: it is about to be written anew
        return 1


def _in_words(result: Table) -> str:
    accuracy = f"validation accuracy {result['valid']['accuracy']:.4f}"
    best = f", best epoch {result['best']} of {len(result['epochs'])}" if "best" in result else ""
    return f"{accuracy}{best}, {result['seconds']:.1f} s"


def _clear(out: Path) -> None:
    shutil.rmtree(out / ARMS, ignore_errors=True)
    for name in (SCORES, PAGE):
        (out / name).unlink(missing_ok=True)

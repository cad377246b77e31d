"""What was the head start worth? The same model from scratch and from a pretrained run, beside the classic baselines.

    read and look for leaks -> plan the arms -> train each arm -> (every choice is made) -> open the test -> report

Test labels and predictions exist only in the last two stages. Finished arms are kept; --resume does the rest.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headstart.recipes.comparing.all_arms import Show, openings, train_arms, unseen
from headstart.recipes.comparing.answers import open_test
from headstart.recipes.comparing.arms import ARMS, Table, refuse_changed, write_json
from headstart.recipes.comparing.one_arm import Progress, Tools
from headstart.recipes.comparing.plan import Request, plan, prepare
from headstart.recipes.comparing.tally import tally
from headstart.recipes.running.occupied import refuse_occupied
from headstart.recipes.running.training import ignore
from headstart.report.page import write_page
from headstart.train.device import refuse_workers
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
    show: Show = unseen,
    tools: Tools = Tools(),  # noqa: B008 (frozen)
) -> Compared:
    """`say` hears a sentence for each finding and arm; `show(title)` gives what watches one training."""
    out = request.out
    refuse_workers("compare")
    refuse_occupied(out, force=force, resume=resume)
    with Lock(out):
        bench = prepare(request, say)
        arms = plan(request, bench)
        if force and not resume:  # after all that a typo could have stopped
            _clear(out)
        refuse_changed(arms, out)
        train_arms(arms, bench, request, say, show, tools)
        answers = open_test(request, bench, arms, say, tools)
        scores = tally(request, bench, arms, answers, openings(out / SCORES, arms))
        write_json(out / SCORES, scores)
        write_page(out / SCORES, out / PAGE)
    return Compared(out, scores)


def _clear(out: Path) -> None:
    shutil.rmtree(out / ARMS, ignore_errors=True)
    for name in (SCORES, PAGE):
        (out / name).unlink(missing_ok=True)

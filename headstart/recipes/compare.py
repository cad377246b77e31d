"""What was the head start worth? The same model from scratch and from a pretrained run, beside the classic baselines.

    read and look for leaks -> plan the arms -> train each arm -> (every choice is made) -> open the test -> report

Test labels and predictions exist only in the last two stages. Finished arms are kept; --resume does the rest.
"""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from headstart.errors import RunError
from headstart.evaluate.baseline import CLASSICS, STRENGTHS, Fitted, fit_classic, plain_text
from headstart.evaluate.scores import score
from headstart.recipes.arms import (
    ARMS,
    INPUTS,
    RESULT,
    TEST,
    Arm,
    Table,
    hash_rows,
    read_json,
    refuse_changed,
    write_json,
)
from headstart.recipes.finetune import FineTuned, finetune
from headstart.recipes.occupied import refuse_occupied
from headstart.recipes.plan import Bench, Request, plan, prepare
from headstart.recipes.predict import Prediction, predict_rows
from headstart.recipes.tally import Answers, tally
from headstart.recipes.training import ignore
from headstart.report.page import write_page
from headstart.text.readers import read_rows
from headstart.text.records import Row
from headstart.train.lock import Lock

SCORES, PAGE = "scores.json", "report.html"


class Progress(Protocol):
    """What shows the steps of one training."""

    def begin(self, steps: int, done: int) -> None: ...
    def watch(self, event: Any) -> None: ...


class Unseen:
    """Nobody is watching."""

    def begin(self, steps: int, done: int) -> None:
        """A training begins."""

    def watch(self, event: Any) -> None:
        """A step or an epoch is done."""


@dataclass(frozen=True)
class Compared:
    """`scores` is what stands in scores.json."""

    folder: Path
    scores: Table

    @property
    def page(self) -> Path:
        return self.folder / PAGE


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The two jobs that a comparison leaves to others; tests put others in their place."""

    finetune: Callable[..., FineTuned] = finetune
    predict: Callable[[Path, Sequence[Row]], list[Prediction]] = predict_rows


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
                    _run(arm, bench, request, progress, tools)
            result = read_json(arm.folder(out) / RESULT)
            say(f"{title}: {_in_words(result)}")
            for warning in result["warnings"]:
                if warning not in warned:
                    warned.append(warning)
                    say(f"  {warning}")
        answers = _open_test(request, bench, arms, say, tools)
        scores = tally(request, bench, arms, answers, _openings(out, arms))
        write_json(out / SCORES, scores)
        write_page(out / SCORES, out / PAGE)
    return Compared(out, scores)


def _run(arm: Arm, bench: Bench, request: Request, progress: Progress, tools: Tools) -> None:
    """Train one arm; its result is written last."""
    folder = arm.folder(request.out)
    write_json(folder / INPUTS, arm.inputs)
    result = _finetune(arm, bench, request, progress, tools) if arm.neural else _fit(arm, bench).result
    write_json(folder / RESULT, result)
    for state in ("last", "last.old"):
        shutil.rmtree(folder / state, ignore_errors=True)


def _finetune(arm: Arm, bench: Bench, request: Request, progress: Progress, tools: Tools) -> Table:
    settings = replace(bench.settings, finetune=replace(bench.settings.finetune, epochs=arm.epochs))
    done = tools.finetune(
        [bench.train[row] for row in arm.rows],
        bench.valid,
        start=request.run if arm.system == "pretrained" else None,
        out=arm.folder(request.out),
        settings=settings,
        tokenizer=bench.tokenizer,
        labels=bench.labels,
        seed=arm.seed,
        device=request.device,
        resume=True,
        watch=progress.watch,
        begin=progress.begin,
    )
    best = next(epoch for epoch in done.epochs if epoch.number == done.best)
    return {
        "seconds": done.seconds,
        "best": done.best,
        "epochs": [{name: _finite(value) for name, value in asdict(epoch).items()} for epoch in done.epochs],
        "valid": {"accuracy": best.accuracy, "macro_f1": best.macro_f1, "log_loss": _finite(best.valid_loss)},
        "ledger": done.ledger.sentence(),
        "warnings": list(done.warnings),
    }


@dataclass(frozen=True)
class _FittedArm:
    fitted: Fitted
    result: Table


def _fit(arm: Arm, bench: Bench, strengths: Sequence[float] = STRENGTHS) -> _FittedArm:
    kind = next(kind for kind in CLASSICS if kind.name == arm.system)
    rows = [bench.train[row] for row in arm.rows]
    valid_labels = bench.numbers(bench.valid)
    fitted = fit_classic(
        kind,
        [plain_text(row) for row in rows],
        bench.numbers(rows),
        [plain_text(row) for row in bench.valid],
        valid_labels,
        len(bench.labels),
        strengths,
    )
    found = score(valid_labels, fitted.valid)
    valid = {"accuracy": found.accuracy, "macro_f1": found.macro_f1, "log_loss": found.log_loss}
    result = {
        "seconds": fitted.seconds,
        "strength": fitted.strength,
        "temperature": fitted.temperature,
        "valid": valid,
        "warnings": [],
    }
    return _FittedArm(fitted, result)


def _open_test(
    request: Request, bench: Bench, arms: Sequence[Arm], say: Callable[[str], None], tools: Tools
) -> Answers:
    """The one place where the test is opened: every arm is finished, so nothing can be chosen by it any more."""
    unfinished = [arm.name for arm in arms if not arm.finished(request.out)]
    assert not unfinished, f"the test was about to be opened before {unfinished[0]} was finished"
    say(f"Every arm is finished. Now the {len(bench.test):,} test texts are read.")
    texts = hash_rows(bench.test)
    probabilities, seconds = {}, {}
    for arm in arms:
        path = arm.folder(request.out) / TEST
        if not path.is_file() or read_json(path)["texts"] != texts:
            write_json(path, {"texts": texts, **_predict(arm, bench, request.out, tools)})
        found = read_json(path)
        probabilities[arm.name], seconds[arm.name] = np.array(found["probabilities"]), float(found["seconds"])
        if arm.neural and arm.few:
            shutil.rmtree(arm.folder(request.out) / "best", ignore_errors=True)  # a curve needs its points only
    rows = list(read_rows(request.test, request.settings.reading))
    results = {arm.name: read_json(arm.folder(request.out) / RESULT) for arm in arms}
    return Answers(rows=rows, probabilities=probabilities, seconds=seconds, results=results)


def _openings(out: Path, arms: Sequence[Arm]) -> int:
    """How often the test has been opened for this comparison; to see the same arms again does not count."""
    if not (out / SCORES).is_file():
        return 1
    before = read_json(out / SCORES)
    return int(before["test_openings"]) + (before["arms"] != [arm.name for arm in arms])


def _predict(arm: Arm, bench: Bench, out: Path, tools: Tools) -> Table:
    folder = arm.folder(out)
    if arm.neural:
        if not (folder / "best").exists():
            raise RunError(
                f"{folder}: the test texts have changed since this arm was tested, and its model was not kept. "
                f"Delete the folder and go on with --resume"
            )
        started = time.perf_counter()
        shares = [list(prediction.scores) for prediction in tools.predict(folder, bench.test)]
    else:
        fitted = _fit(arm, bench, (read_json(folder / RESULT)["strength"],)).fitted
        started = time.perf_counter()
        shares = fitted.probabilities([plain_text(row) for row in bench.test]).tolist()
    return {"seconds": time.perf_counter() - started, "probabilities": shares}


def _in_words(result: Table) -> str:
    accuracy = f"validation accuracy {result['valid']['accuracy']:.4f}"
    best = f", best epoch {result['best']} of {len(result['epochs'])}" if "best" in result else ""
    return f"{accuracy}{best}, {result['seconds']:.1f} s"


def _finite(value: Any) -> Any:
    """JSON knows no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _clear(out: Path) -> None:
    shutil.rmtree(out / ARMS, ignore_errors=True)
    for name in (SCORES, PAGE):
        (out / name).unlink(missing_ok=True)

"""One arm of a comparison: its training, and its answers to the test texts."""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch

from headstart.errors import RunError
from headstart.evaluate.baseline import CLASSICS, STRENGTHS, Fitted, fit_classic, plain_text
from headstart.evaluate.scores import score
from headstart.recipes.comparing.arms import INPUTS, RESULT, Arm, Start, Table, read_json, write_json
from headstart.recipes.comparing.plan import Bench, Contest
from headstart.recipes.finetune import FineTuned, finetune
from headstart.recipes.finetuning.classifier import suited
from headstart.recipes.predict import Prediction, predict_rows
from headstart.recipes.running.training import ignore
from headstart.recipes.self_train import TEACHER, self_train
from headstart.text.records import Row


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


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The jobs that a comparison leaves to others; tests put others in their place."""

    finetune: Callable[..., FineTuned] = finetune
    self_train: Callable[..., FineTuned] = self_train
    predict: Callable[[Path, Sequence[Row], str], list[Prediction]] = predict_rows


def train_arm(arm: Arm, bench: Bench, contest: Contest, progress: Progress, tools: Tools) -> None:
    """Train one arm; its result is written last."""
    folder = arm.folder(contest.out)
    write_json(folder / INPUTS, arm.inputs)
    start = arm.start
    result = _finetune(arm, start, bench, contest, progress, tools) if start else _fit(arm, bench).result
    write_json(folder / RESULT, result)
    for state in ("last", "last.old", TEACHER):
        shutil.rmtree(folder / state, ignore_errors=True)


def _finetune(arm: Arm, start: Start, bench: Bench, contest: Contest, progress: Progress, tools: Tools) -> Table:
    options = replace(suited(bench.settings.finetune, start.card.causal), epochs=arm.epochs)
    settings = replace(bench.settings, model=start.card.shape, finetune=options)
    more = {"unlabelled": bench.unlabelled, "say": ignore} if bench.unlabelled else {}
    done = (tools.self_train if more else tools.finetune)(
        [bench.train[row] for row in arm.rows],
        bench.valid,
        start=start.run,
        out=arm.folder(contest.out),
        settings=settings,
        tokenizer=bench.tokenizer,
        causal=start.card.causal,
        labels=bench.labels,
        among=bench.train,
        seed=arm.seed,
        device=contest.device,
        resume=True,
        watch=progress.watch,
        begin=progress.begin,
        **more,
    )
    best = next(epoch for epoch in done.epochs if epoch.number == done.best)
    return {
        "seconds": done.seconds,
        "threads": torch.get_num_threads(),
        "best": done.best,
        "epochs": [{name: _finite(value) for name, value in asdict(epoch).items()} for epoch in done.epochs],
        "valid": {"accuracy": best.accuracy, "macro_f1": best.macro_f1, "log_loss": _finite(best.valid_loss)},
        "ledger": done.ledger.sentence(),
        "warnings": list(done.warnings),
    }


def answer(arm: Arm, bench: Bench, contest: Contest, tools: Tools) -> Table:
    """The probabilities (N, C) for the test texts, which come without labels, and the seconds they took."""
    folder = arm.folder(contest.out)
    if arm.neural:
        if not (folder / "best").exists():
            raise RunError(
                f"{folder}: the test texts have changed since this arm was tested, and its model was not kept. "
                f"Delete the folder and go on with --resume"
            )
        started = time.perf_counter()
        shares = [list(prediction.scores) for prediction in tools.predict(folder, bench.test, contest.device)]
    else:
        fitted = _fit(arm, bench, (read_json(folder / RESULT)["strength"],)).fitted
        started = time.perf_counter()
        shares = fitted.probabilities([plain_text(row) for row in bench.test]).tolist()
    return {"seconds": time.perf_counter() - started, "probabilities": shares}


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


def _finite(value: Any) -> Any:
    """JSON knows no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

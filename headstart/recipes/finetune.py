"""A pretrained body, a fresh head, and few labels."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headstart.checkpoint import Card, Saved, find, load, read_card, save
from headstart.config import to_table
from headstart.data.batch import IGNORED
from headstart.data.buckets import Bucketing
from headstart.data.labelled import LabelledTexts
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.evaluate.baseline import Fitted, fit_strongest
from headstart.evaluate.baseline_file import write_baseline
from headstart.evaluate.calibration import fit_temperature, softmax
from headstart.evaluate.scores import score
from headstart.model.init import initialise
from headstart.model.models import Classifier, Pooling
from headstart.recipes.guess import Guessed
from headstart.recipes.labels import hash_rows
from headstart.recipes.predict import BASELINE, EVALUATION, encode, frame, logits_of
from headstart.recipes.running.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.running.training import Job, Scores, ignore, run
from headstart.recipes.settings import Settings
from headstart.text.records import Row
from headstart.text.tokenizer import Tokenizer
from headstart.train.course import Course
from headstart.train.dead import constant_warning, refuse_overflow
from headstart.train.device import join_workers, resolve_precision
from headstart.train.journal import Journal
from headstart.train.keeping import Memory
from headstart.train.lock import Lock
from headstart.train.loop import Step
from headstart.train.memory import keep_freed_memory
from headstart.train.objectives import ClassOfText
from headstart.train.optimiser import adamw, layer_scales, rate_schedule
from headstart.train.settings import FineTuning
from headstart.train.transfer import Ledger, all_fresh, carry_body
from headstart.whole import MANIFEST, sha256

TOGETHER = "accuracy_with_baseline"
LONGEST_BATCH = 8_192  # tokens, padding included


@dataclass(frozen=True)
class Epoch:
    """Scores on validation after an epoch; `seconds` since the start of training."""

    number: int
    seconds: float
    train_loss: float
    valid_loss: float
    accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class FineTuned:
    """`folder` holds best/, the model of the epoch with the best validation accuracy.

    `with_baseline` is the validation accuracy of the model and the classic baseline together, where asked for.
    """

    folder: Path
    epochs: tuple[Epoch, ...]
    best: int
    seconds: float
    ledger: Ledger
    warnings: tuple[str, ...]
    with_baseline: float | None = None


def finetune(
    train: Sequence[Row],
    valid: Sequence[Row],
    *,
    start: Path | None,
    out: Path,
    settings: Settings,
    tokenizer: Tokenizer,
    labels: tuple[str, ...],
    guessed: Guessed | None = None,
    causal: bool = True,
    seed: int = 0,
    device: str = "auto",
    resume: bool = False,
    save_every: int = 0,
    tensorboard: bool = False,
    watch: Callable[[Step | Epoch], None] = ignore,
    begin: Callable[[int, int], None] = lambda steps, done: None,
) -> FineTuned:
    """Fine-tune on `train`, choose the epoch on `valid`, calibrate there too.

    No `start` means from scratch, in a body that is `causal` or looks both ways. Texts whose labels are `guessed`
    stand beside those of `train` in every epoch, which then has each row of `train` several times.
    """
    keep_freed_memory()
    workers = join_workers(device)
    torch.manual_seed(seed)
    model, ledger, card = _model(start, settings, tokenizer, labels, causal)
    model.to(workers.device)
    options = settings.finetune
    texts = _batches(train, tokenizer, labels, card, settings, seed, learns=True, guessed=guessed)
    held = _batches(valid, tokenizer, labels, card, settings, seed, learns=False)
    course, objective = Course(texts), ClassOfText(model, _weights(texts, labels) if options.class_weights else None)
    objective.to(workers.device)
    epochs = options.epochs_with_guesses(len(texts.labels)) if guessed else options.epochs_for(len(train))
    ends = {course.end(epoch): epoch for epoch in range(1, epochs + 1)}
    steps = max(ends)
    rate = options.scratch_rate if start is None else options.rate
    blame = "finetune.scratch_rate" if start is None else "finetune.rate"
    precision = resolve_precision(options.precision, workers.device, card.shape.width)
    scaled = precision == "float16"  # then a gradient may overflow: the step is left out, and the scale falls
    record = _Record(Journal(out / "metrics.jsonl"), ends, watch)

    job = Job(
        folder=out,
        model=model,
        objective=objective,
        course=course,
        optimiser=adamw(model, weight_decay=options.weight_decay, betas=(0.9, 0.999), **_speeds(model, options, ends)),
        rate_at=rate_schedule(rate, steps, warmup=options.warmup, decay=options.decay, floor=0.0),
        steps=steps,
        card=card,
        tokenizer=tokenizer,
        workers=workers,
        evaluate=lambda memory: record.epoch(memory, model, held),
        evaluates_at=ends.__contains__,
        score="choice",
        better=1,
        save_every=save_every,
        patience=options.patience,
        seed=seed,
        clip=options.clip,
        precision=precision,
        tensorboard=tensorboard,
        see=lambda step: refuse_overflow(step.number, step.loss, 0.0 if scaled else step.norm, blame),
        watch=record.step,
        begin=begin,
    )
    origin = {"seed": seed, "from": _hash(start), "tokenizer": tokenizer.hash, "labels": list(labels)}
    origin |= {"train": hash_rows(train), "valid": hash_rows(valid)}
    origin |= {"guessed": guessed.hash} if guessed else {}
    elsewhere = ""
    with Lock(out) if workers.first else nullcontext():
        asked = {name: to_table(getattr(settings, name)) for name in ("model", "finetune")}
        if resume and read_run_file(out):
            elsewhere = check_unchanged(out, asked, origin)
        elif workers.first:
            write_run_file(out, asked, origin)
        workers.wait()
        memory = run(job, resume=resume)
        if workers.first:
            _finish(out / "best", held, tokenizer, fit_strongest(train, valid, labels) if options.baseline else None)
        workers.wait()
    warnings = (texts.note, record.warning, elsewhere)
    return FineTuned(
        folder=out,
        epochs=tuple(record.epochs()),
        best=ends[memory.best_step],
        seconds=memory.seconds,
        ledger=ledger,
        warnings=tuple(w for w in warnings if w),
        with_baseline=read_card(out / "best").scores.get(TOGETHER),
    )


class _Record:
    """Turns evaluations into epochs; all it knows of the past is in the journal, so a resumed run knows it too."""

    def __init__(self, journal: Journal, ends: dict[int, int], watch: Callable[[Step | Epoch], None]):
        self.journal, self.ends, self.watch, self.warning = journal, ends, watch, ""

    def step(self, event: Step | Scores) -> None:
        if isinstance(event, Step):
            self.watch(event)

    def epoch(self, memory: Memory, model: Classifier, held: LabelledTexts) -> Scores:
        logits = logits_of(model, held)
        self.warning = constant_warning(logits.argmax(1).tolist(), logits.shape[1])
        scores = score(held.labels, softmax(logits))
        found = {
            "epoch": float(self.ends[memory.step]),
            "seconds": memory.seconds,
            "train_loss": float(np.mean(self.losses(memory))),
            "valid_loss": scores.log_loss,
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "choice": scores.accuracy - 1e-6 * scores.log_loss,  # accuracy decides, the loss where it is equal
        }
        self.watch(_epoch(found))
        return found

    def losses(self, memory: Memory) -> list[float]:
        """Of the steps since the last evaluation."""
        lines = self.journal.read()
        return [line["loss"] for line in lines if "rate" in line and memory.evaluated < line["step"] <= memory.step]

    def epochs(self) -> list[Epoch]:
        return [_epoch(line) for line in self.journal.read() if "accuracy" in line]


def _epoch(found: Scores) -> Epoch:
    return Epoch(
        int(found["epoch"]),
        found["seconds"],
        found["train_loss"],
        found["valid_loss"],
        found["accuracy"],
        found["macro_f1"],
    )


def _model(
    start: Path | None, settings: Settings, tokenizer: Tokenizer, labels: tuple[str, ...], causal: bool
) -> tuple[Classifier, Ledger, Card]:
    options = settings.finetune
    saved: Saved | None = None
    shape = replace(settings.model, vocabulary=tokenizer.size)
    if start is not None:
        saved = load(start)
        shape, causal = saved.card.shape, saved.card.causal
        if saved.card.tokenizer and saved.card.tokenizer != tokenizer.hash:
            own = saved.folder / "tokenizer"
            raise CheckpointError(f"{start}: was trained with another tokenizer; use its own, {own}")
    shape = replace(shape, dropout=options.dropout, embedding_dropout=max(options.dropout, shape.embedding_dropout))
    pooling = _pooling(options, causal)
    card = Card(task="classify", shape=shape, causal=causal, pooling=pooling, labels=labels, keep=options.keep)
    model = card.build()
    assert isinstance(model, Classifier)
    initialise(model)
    ledger = all_fresh(model) if saved is None else carry_body(saved, model)
    parent = "" if saved is None else sha256(saved.folder / MANIFEST)
    return model, ledger, replace(card, parent=parent, corpus=saved.card.corpus if saved else "")


def _pooling(options: FineTuning, causal: bool) -> Pooling:
    """Where a text is read: at its last token by a causal body, else at all of them or at `<cls>`."""
    if options.pooling == "auto":
        return "last" if causal else "mean"
    if causal and options.pooling == "first":
        raise ConfigError(
            "finetune.pooling is 'first', but the first token of a causal body has seen nothing of the text; "
            "use 'last' or 'mean'"
        )
    return options.pooling


def _batches(
    rows: Sequence[Row],
    tokenizer: Tokenizer,
    labels: tuple[str, ...],
    card: Card,
    settings: Settings,
    seed: int,
    *,
    learns: bool,
    guessed: Guessed | None = None,
) -> LabelledTexts:
    numbers = {label: number for number, label in enumerate(labels)}
    unknown = next((row for row in rows if row.label not in numbers), None)
    if unknown is not None:
        raise DataError(
            f"{unknown.source}:{unknown.line}: label {unknown.label!r} does not stand in the training data, "
            f"which has {', '.join(labels[:10])}"
        )
    classes, shares = [numbers[row.label] for row in rows], None
    if guessed is not None:
        rows, classes, shares = guessed.beside(rows, classes, settings.finetune.repeats)
    ids, second = encode(rows, tokenizer)
    return LabelledTexts(
        ids,
        classes,
        frame=frame(tokenizer, card.causal),
        pad=tokenizer.pad,
        context=card.shape.context,
        second=second,
        shares=shares,
        keep=card.keep,
        bucketing=Bucketing(rows=settings.finetune.rows, budget=LONGEST_BATCH) if learns else EVALUATION,
        shuffle=learns,
        seed=seed,
    )


def _weights(texts: LabelledTexts, labels: tuple[str, ...]) -> Tensor:
    counts = np.bincount(texts.labels[texts.labels != IGNORED], minlength=len(labels))
    return torch.tensor(counts.sum() / (len(labels) * np.maximum(counts, 1)), dtype=torch.float32)


def _speeds(model: Classifier, options: FineTuning, ends: dict[int, int]) -> dict[str, Any]:
    """How fast each part learns, and from which step on: a frozen body never, a thawing one layer by layer."""
    depth = model.body.shape.depth
    if options.freeze == "body":
        return {"scales": {"body.": 0.0}}
    scales = layer_scales(depth, options.layer_decay) if options.layer_decay < 1.0 else {}
    if options.freeze == "none":
        return {"scales": scales}
    epoch_starts = [0, *sorted(ends)]
    thaw = [epoch_starts[min(depth - i, len(epoch_starts) - 1)] for i in range(depth)]  # one more layer an epoch
    starts = {f"body.blocks.{i}.": thaw[i] for i in range(depth)}
    return {"scales": scales, "starts": {"body.": thaw[0], "body.final_norm": 0, **starts}}


def _finish(best: Path, held: LabelledTexts, tokenizer: Tokenizer, beside: Fitted | None) -> None:
    """Choose the temperature on validation; save it with the best model, and the baseline where one is wanted."""
    saved = load(best)
    assert isinstance(saved.model, Classifier)
    logits = logits_of(saved.model, held)
    card = replace(saved.card, temperature=fit_temperature(held.labels, logits), baseline=beside is not None)
    if beside is None:
        save(best, saved.model, card, tokenizer)
        return
    both = (softmax(logits, card.temperature) + beside.valid) / 2
    scores = {**card.scores, TOGETHER: score(held.labels, both).accuracy}
    card = replace(card, scores=scores)
    save(best, saved.model, card, tokenizer, also=lambda folder: write_baseline(beside, folder / BASELINE))


def _hash(start: Path | None) -> str:
    return "scratch" if start is None else sha256(find(start) / MANIFEST)

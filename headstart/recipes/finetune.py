"""A pretrained body, a fresh head, and few labels."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from headstart.checkpoint import find, read_card
from headstart.config import to_table
from headstart.evaluate.baseline import fit_strongest
from headstart.recipes.finetuning.classifier import build_classifier, speeds
from headstart.recipes.finetuning.ending import TOGETHER, finish
from headstart.recipes.finetuning.epochs import Epoch, Record
from headstart.recipes.finetuning.rows import class_weights, lay_out_rows
from headstart.recipes.guess import Guessed
from headstart.recipes.labels import hash_rows
from headstart.recipes.running.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.running.training import Job, ignore, run
from headstart.recipes.second_texts import seconds
from headstart.recipes.settings import Settings
from headstart.text.records import Row
from headstart.text.tokenizer import Tokenizer
from headstart.train.course import Course
from headstart.train.dead import refuse_overflow
from headstart.train.device import join_workers, resolve_precision
from headstart.train.journal import Journal
from headstart.train.lock import Lock
from headstart.train.loop import Step
from headstart.train.objectives import ClassOfText
from headstart.train.optimiser import adamw, rate_schedule
from headstart.train.transfer import Ledger
from headstart.whole import MANIFEST, sha256

__all__ = ["Epoch", "FineTuned", "finetune"]


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
    among: Sequence[Row] = (),
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
    stand beside those of `train` in every epoch, which then has each row of `train` several times. `train` may be
    some rows `among` more of their kind, and then the model is for rows such as those.
    """
    workers = join_workers(device)
    torch.manual_seed(seed)
    model, ledger, card = build_classifier(start, settings, tokenizer, labels, causal)
    card = replace(card, text_b=seconds(among or train))
    model.to(workers.device)
    options = settings.finetune
    texts = lay_out_rows(train, tokenizer, labels, card, settings, seed, learns=True, guessed=guessed)
    held = lay_out_rows(valid, tokenizer, labels, card, settings, seed, learns=False)
    course, weights = Course(texts), class_weights(texts, labels) if options.class_weights else None
    objective = ClassOfText(model, weights)
    objective.to(workers.device)
    epochs = options.epochs_with_guesses(len(texts.labels)) if guessed else options.epochs_for(len(train))
    ends = {course.end(epoch): epoch for epoch in range(1, epochs + 1)}
    steps = max(ends)
    rate = options.scratch_rate if start is None else options.rate
    blame = "finetune.scratch_rate" if start is None else "finetune.rate"
    precision = resolve_precision(options.precision, workers.device, card.shape.width)
    scaled = precision == "float16"  # then a gradient may overflow: the step is left out, and the scale falls
    record = Record(Journal(out / "metrics.jsonl"), ends, watch)

    job = Job(
        folder=out,
        model=model,
        objective=objective,
        course=course,
        optimiser=adamw(model, weight_decay=options.weight_decay, betas=(0.9, 0.999), **speeds(model, options, ends)),
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
            finish(out / "best", held, tokenizer, fit_strongest(train, valid, labels) if options.baseline else None)
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


def _hash(start: Path | None) -> str:
    return "scratch" if start is None else sha256(find(start) / MANIFEST)

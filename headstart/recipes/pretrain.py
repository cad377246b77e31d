"""Raw text to a pretrained model: tokens, windows, an objective, held-out scores."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from headstart.checkpoint import Card, Saved, build, load
from headstart.config import to_table
from headstart.model.init import initialise
from headstart.model.models import LanguageModel, MaskedModel
from headstart.recipes.pretraining.ground import (
    ShowReading,
    check_windows,
    fit_settings,
    prepare_store,
    prepare_tokenizer,
)
from headstart.recipes.pretraining.held_out import HeldOut
from headstart.recipes.pretraining.objectives import OBJECTIVES, Name, Objective
from headstart.recipes.pretraining.second_phase import objective_of, read_parent, refuse_own_child
from headstart.recipes.running.occupied import clear_run, refuse_cleared, refuse_occupied
from headstart.recipes.running.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.running.stopping import StopRule, plan_steps
from headstart.recipes.running.training import Job, Scores, Watcher, ignore, run
from headstart.recipes.settings import Settings
from headstart.text.reading.corpus import Corpus
from headstart.text.store import Store
from headstart.text.tokenizer import Tokenizer
from headstart.train.board import check_installed
from headstart.train.counted import start_counted
from headstart.train.course import Course
from headstart.train.dead import Watch, unigram_entropy, unknown_warning
from headstart.train.device import Workers, join_workers, resolve_precision
from headstart.train.keeping import was_kept
from headstart.train.lock import Lock
from headstart.train.optimiser import adamw, rate_schedule
from headstart.train.sampled_loss import Sampler
from headstart.train.transfer import Ledger, all_fresh, carry_all
from headstart.whole import MANIFEST, sha256


@dataclass(frozen=True)
class Pretrained:
    """What a run came to. Losses are in nats per target, over all held-out text."""

    folder: Path
    objective: Name
    steps: int
    tokens: int
    seconds: float
    scores: Scores
    ledger: Ledger
    notes: tuple[str, ...]


def pretrain(
    corpus_paths: Sequence[str],
    out: Path,
    *,
    settings: Settings,
    stop: StopRule,
    objective: Name | None = None,
    start: Path | None = None,
    tokenizer: Path | None = None,
    seed: int = 0,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    tensorboard: bool = False,
    say: Callable[[str], None] = ignore,
    watch: Watcher = ignore,
    begin: Callable[[int, int], None] = lambda steps, done: None,
    show_reading: ShowReading = lambda size: nullcontext(ignore),
) -> Pretrained:
    """Train on the corpus until `stop`. `say` hears sentences, `watch` steps and scores.

    A run to `start` from brings its weights, its objective, its tokenizer and its shape; the schedule is fresh.
    Without one a fresh model learns the objective: causal, unless another is named.
    `show_reading(size)` gives what is told the bytes read while the corpus is encoded.
    """
    if tensorboard:
        check_installed()
    workers = join_workers(device)
    if start is not None:
        refuse_own_child(out, start)
    if workers.first:
        refuse_occupied(out, force=force, resume=resume)
    if not resume:
        refuse_cleared(out, tokenizer)
    parent = read_parent(start, objective, tokenizer) if start is not None else None
    chosen = objective_of(parent) if parent else OBJECTIVES[objective or "causal"]
    check_windows(settings, chosen, parent.card.shape if parent else settings.model)
    if tokenizer is not None:
        Tokenizer.load(tokenizer)  # a typo is to be found before anything is cleared
    corpus = Corpus(corpus_paths, settings.reading)
    files = f"{len(corpus.files):,} file{'s' if len(corpus.files) > 1 else ''}"
    say(f"{files}, {corpus.bytes / 1e6:,.2f} MB{': ' if corpus.guess else ''}{corpus.guess}")
    with Lock(out) if workers.first else nullcontext():
        if not resume and workers.first:
            clear_run(out)
        own = parent.tokenizer if parent else None
        cutter = own or prepare_tokenizer(tokenizer, chosen, corpus, out, settings, workers, say)
        settings = fit_settings(settings, cutter, chosen, parent, say)
        store = prepare_store(corpus, cutter, out / "tokens", settings.data.holdout, workers, show_reading, say)
        torch.manual_seed(seed)
        model, ledger = _model(chosen, settings, parent)
        started = time.perf_counter()
        counts = parent is None and settings.train.vectors == "counted" and not (resume and was_kept(out / "last"))
        if counts and workers.first:  # the others get all weights from the first one when the training begins
            say("Counting which tokens stand together: the token vectors start from that.")
            start_counted(model.body.embedding.weight, store.train, cutter.specials)
        scene = _Scene(out, chosen, model.to(workers.device), ledger, _hash(parent), store, cutter, settings, workers)
        spent = workers.add_up(time.perf_counter() - started)  # all must plan the same steps
        return _train(scene, stop, seed, resume, tensorboard, say, watch, begin, spent)


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that a training needs, and that is settled before it begins."""

    out: Path
    objective: Objective
    model: nn.Module
    ledger: Ledger
    parent: str
    store: Store
    tokenizer: Tokenizer
    settings: Settings
    workers: Workers

    def held_out(self, model: nn.Module) -> HeldOut:
        return HeldOut(self.objective, model, self.store.valid, self.settings, self.tokenizer, self.workers)


def _train(
    scene: _Scene,
    stop: StopRule,
    seed: int,
    resume: bool,
    tensorboard: bool,
    say: Callable[[str], None],
    watch: Watcher,
    begin: Callable[[int, int], None],
    spent: float,
) -> Pretrained:
    out, objective, model, store, workers = scene.out, scene.objective, scene.model, scene.store, scene.workers
    train, shape = scene.settings.train, scene.settings.model
    windows = objective.windows(store.train, scene.settings.data, scene.tokenizer, seed)
    sampler = _sampler(scene)
    course, loss, held_out = Course(windows), objective.loss(model, sampler), scene.held_out(model)
    precision = resolve_precision(train.precision, workers.device, shape.width)
    asked = {**to_table(scene.settings), "stop": vars(stop)}
    origin = {"objective": objective.name, "seed": seed, "from": scene.parent or "scratch"}
    origin |= {"tokenizer": scene.tokenizer.hash, "corpus": store.card.corpus}
    found = read_run_file(out).get("run", {}) if resume else {}
    if found:
        note = check_unchanged(out, asked, origin | {k: v for k, v in found.items() if k not in origin})
        if note:
            say(note)
    else:
        lineage = {"parent": str(Path(scene.ledger.source).resolve().parent)} if scene.parent else {}
        found = origin | lineage | plan_steps(loss, course, held_out.quick, stop, train, workers, precision, say, spent)
        if workers.first:
            write_run_file(out, asked, found)
    workers.wait()
    steps, every = int(found["steps"]), int(found["evaluate_every"])
    dead = Watch(
        uniform=math.log(shape.vocabulary) + objective.blind,
        unigram=_unigram(scene),
        warm=max(50, round(2 * train.warmup * steps)),
        scaled=precision == "float16",
    )
    job = Job(
        folder=out,
        model=model,
        objective=loss,
        course=course,
        optimiser=adamw(
            model,
            weight_decay=train.weight_decay,
            betas=(train.beta1, train.beta2),
            sampled=sampler is not None,
        ),
        rate_at=rate_schedule(train.rate, steps, warmup=train.warmup, decay=train.decay, floor=train.floor),
        steps=steps,
        card=Card(
            task=objective.task, shape=shape, causal=objective.causal, parent=scene.parent, corpus=store.card.corpus
        ),
        tokenizer=scene.tokenizer,
        workers=workers,
        evaluate=lambda memory: held_out.quick(),
        evaluates_at=lambda step: step % every == 0 or step == steps,
        score="held_out_loss",
        save_every=train.save_every,
        patience=train.patience,
        seed=seed,
        clip=train.clip,
        accumulate=train.accumulate,
        precision=precision,
        tensorboard=tensorboard,
        see=lambda step: dead.see(step.number, step.loss, step.norm),
        watch=watch,
        begin=begin,
    )
    memory = run(job, resume=resume)
    scores = scene.held_out(load(out / "best").model.to(workers.device)).whole()
    notes = [windows.note, objective.shortfall(scores)]
    notes.append(unknown_warning(store.card.train.unknown, store.card.train.count))
    notes.append(dead.judge(memory.step, scores.get("masked_loss", scores["held_out_loss"])))
    return Pretrained(
        folder=out,
        objective=objective.name,
        steps=memory.step,
        tokens=memory.tokens,
        seconds=memory.seconds,
        scores=scores,
        ledger=scene.ledger,
        notes=tuple(note for note in notes if note),
    )


def _model(
    objective: Objective, settings: Settings, parent: Saved | None
) -> tuple[LanguageModel | MaskedModel, Ledger]:
    model = parent.model if parent is not None else build(objective.task, settings.model)
    assert isinstance(model, LanguageModel | MaskedModel)
    if parent is not None:
        return model, carry_all(parent)
    initialise(model)
    return model, all_fresh(model)


def _sampler(scene: _Scene) -> Sampler | None:
    """What draws the tokens of a sampled loss; None where the loss is exact."""
    train, vocabulary = scene.settings.train, scene.tokenizer.size
    drawn = train.drawn(vocabulary)
    return Sampler.of(scene.store.train.ids, vocabulary, drawn, scene.workers.device) if drawn else None


def _hash(parent: Saved | None) -> str:
    return sha256(parent.folder / MANIFEST) if parent else ""


def _unigram(scene: _Scene) -> float:
    """The entropy of single tokens in the first million, as far as they are predicted at all."""
    counts = np.bincount(scene.store.train.ids[:1_000_000], minlength=scene.tokenizer.size)
    counts[list(scene.objective.never(scene.tokenizer))] = 0
    return unigram_entropy(counts.tolist())

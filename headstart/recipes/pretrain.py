"""Raw text to a language model: tokens, windows, next-token prediction, held-out scores."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from headstart.checkpoint import Card, load
from headstart.config import to_table
from headstart.data.windows import CausalWindows
from headstart.errors import ConfigError
from headstart.model.init import initialise
from headstart.model.models import LanguageModel, build
from headstart.recipes.occupied import refuse_occupied
from headstart.recipes.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.settings import Settings
from headstart.recipes.training import Job, Scores, Watcher, ignore, run
from headstart.text.reading.corpus import Corpus
from headstart.text.store import Store, Tokens
from headstart.text.stream import build_store
from headstart.text.tokenizer import Tokenizer
from headstart.train.course import Course
from headstart.train.dead import Watch, unigram_entropy, unknown_warning
from headstart.train.device import Workers, join_workers, resolve_precision
from headstart.train.lock import Lock
from headstart.train.loop import fit
from headstart.train.memory import keep_freed_memory
from headstart.train.objectives import NextToken, targets_in, to_device
from headstart.train.optimiser import adamw, rate_schedule

EVALUATIONS = 10  # in a run whose settings name no interval
EVALUATING = 0.1  # of the minutes of a run, at most
PROBE_SECONDS = 8.0


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """When a run ends: after so many minutes, epochs or steps, whichever is given."""

    minutes: float = 0.0
    epochs: float = 0.0
    steps: int = 0

    def __post_init__(self) -> None:
        if sum(value > 0 for value in (self.minutes, self.epochs, self.steps)) != 1 or min(vars(self).values()) < 0:
            raise ConfigError("give one of --minutes, --epochs and --steps, above 0")


@dataclass(frozen=True)
class Pretrained:
    """What a run came to. Losses are in nats per token, over all held-out text."""

    folder: Path
    steps: int
    tokens: int
    seconds: float
    scores: Scores
    notes: tuple[str, ...]


def pretrain(
    corpus_paths: Sequence[str],
    out: Path,
    *,
    settings: Settings,
    stop: StopRule,
    tokenizer: Path | None = None,
    seed: int = 0,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    say: Callable[[str], None] = ignore,
    watch: Watcher = ignore,
    begin: Callable[[int, int], None] = lambda steps, done: None,
    read: Callable[[int], None] = ignore,
) -> Pretrained:
    """Train on the corpus until `stop`. `say` hears sentences, `watch` steps and scores, `read` bytes encoded."""
    workers = join_workers(device)
    if workers.first:
        refuse_occupied(out, force=force, resume=resume)
    keep_freed_memory()
    corpus = Corpus(corpus_paths, settings.reading)
    with Lock(out) if workers.first else _Nothing():
        if not resume and workers.first:
            _clear(out)
        cutter = _tokenizer(tokenizer, corpus, out, settings, workers, say)
        settings = _fit_shape(settings, cutter, say)
        store = _store(corpus, cutter, out, settings, workers, read, say)
        torch.manual_seed(seed)
        model = build("lm", settings.model)
        assert isinstance(model, LanguageModel)
        initialise(model)
        model.to(workers.device)
        return _train(model, store, cutter, out, settings, stop, seed, workers, resume, say, watch, begin)


def _train(
    model: LanguageModel,
    store: Store,
    cutter: Tokenizer,
    out: Path,
    settings: Settings,
    stop: StopRule,
    seed: int,
    workers: Workers,
    resume: bool,
    say: Callable[[str], None],
    watch: Watcher,
    begin: Callable[[int, int], None],
) -> Pretrained:
    train, data = settings.train, settings.data
    windows = CausalWindows(store.train, data.length, data.rows, seed, cutter.pad, data.across)
    course, objective = Course(windows), NextToken(model)
    precision = resolve_precision(train.precision, workers.device)
    held_out = HeldOut(objective, store.valid, settings, cutter.pad, workers)
    asked = {**to_table(settings), "stop": vars(stop)}
    origin = {"objective": "causal", "seed": seed, "tokenizer": cutter.hash, "corpus": store.card.corpus}
    found = read_run_file(out).get("run", {}) if resume else {}
    if found:
        note = check_unchanged(out, asked, origin | {k: v for k, v in found.items() if k not in origin})
        if note:
            say(note)
    else:
        found = origin | _plan(objective, course, held_out, stop, settings, workers, precision, say)
        if workers.first:
            write_run_file(out, asked, found)
    workers.wait()
    steps, every = int(found["steps"]), int(found["evaluate_every"])
    warm = max(50, round(2 * train.warmup * steps))
    dead = Watch(math.log(settings.model.vocabulary), _unigram(store.train), warm)
    begin(steps, 0)
    job = Job(
        folder=out,
        model=model,
        objective=objective,
        course=course,
        optimiser=adamw(model, weight_decay=train.weight_decay, betas=(train.beta1, train.beta2)),
        rate_at=rate_schedule(train.rate, steps, warmup=train.warmup, decay=train.decay, floor=train.floor),
        steps=steps,
        card=Card(task="lm", shape=settings.model, corpus=store.card.corpus),
        tokenizer=cutter,
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
        see=lambda step: dead.see(step.number, step.loss, step.norm),
        watch=watch,
    )
    memory = run(job, resume=resume)
    notes = [windows.note, unknown_warning(store.card.train.unknown, store.card.train.count)]
    best = load(out / "best").model
    assert isinstance(best, LanguageModel)
    scores = HeldOut(NextToken(best.to(workers.device)), store.valid, settings, cutter.pad, workers).whole()
    notes.append(dead.judge(memory.step, scores["held_out_loss"]))
    return Pretrained(out, memory.step, memory.tokens, memory.seconds, scores, tuple(n for n in notes if n))


class HeldOut:
    """Exact scores on text that was never learnt from: loss, perplexity, bits per byte."""

    def __init__(self, objective: nn.Module, tokens: Tokens, settings: Settings, pad: int, workers: Workers):
        self.objective, self.tokens, self.workers = objective, tokens, workers
        data = settings.data
        self.windows = CausalWindows(tokens, data.length, data.rows, 0, pad, data.across)
        quick = max(1, settings.train.evaluate_tokens // (data.rows * data.length))
        self.batches = min(self.windows.steps(0), quick)

    def quick(self) -> Scores:
        return self._scores(self.batches)

    def whole(self) -> Scores:
        return self._scores(self.windows.steps(0))

    @torch.no_grad()
    def _scores(self, batches: int) -> Scores:
        self.objective.eval()
        total, count = 0.0, 0
        for position in range(self.workers.rank, batches, self.workers.world):
            batch = self.windows.batch(0, position)
            total += self.objective(to_device(batch, self.workers.device)).item()
            count += targets_in(batch)
        loss = self.workers.add_up(total) / max(1.0, self.workers.add_up(count))
        targets = len(self.tokens) - self.tokens.documents  # every token but each <sos>
        bits = loss * targets / max(1, self.tokens.bytes) / math.log(2)
        return {"held_out_loss": loss, "perplexity": math.exp(min(loss, 700)), "bits_per_byte": bits}


def _plan(
    objective: nn.Module,
    course: Course,
    held_out: HeldOut,
    stop: StopRule,
    settings: Settings,
    workers: Workers,
    precision: str,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """How many steps there will be. From here on the run is a pure function of them."""
    steps, train, evaluations = stop.steps, settings.train, EVALUATIONS
    per_epoch = course.source.steps(0) / train.accumulate
    if stop.epochs:
        steps = max(1, math.ceil(stop.epochs * per_epoch))
    speed: dict[str, Any] = {}
    if stop.minutes:
        per_step, per_evaluation = _probe(objective, course, held_out, settings, workers, precision)
        evaluations = int(EVALUATING * stop.minutes * 60 / per_evaluation)
        evaluations = min(max(1, evaluations), EVALUATIONS)
        left = stop.minutes * 60 - evaluations * per_evaluation
        steps = max(1, int(max(left, stop.minutes * 30) / per_step))
        speed = {"seconds_per_step": round(per_step, 4)}
        say(f"{per_step:.2f} s a step: {steps:,} steps in {stop.minutes:g} minutes, {steps / per_epoch:.2f} epochs.")
    every = train.evaluate_every or max(1, math.ceil(steps / evaluations))
    return {"steps": steps, "evaluate_every": every, **speed}


def _probe(
    objective: nn.Module, course: Course, held_out: HeldOut, settings: Settings, workers: Workers, precision: str
) -> tuple[float, float]:
    """Seconds per step and per evaluation, measured on real batches at a rate of 0, which changes no weight."""
    train = settings.train
    optimiser = adamw(objective, weight_decay=0.0, betas=(train.beta1, train.beta2))
    times: list[float] = []
    options: dict[str, Any] = {"workers": workers, "accumulate": train.accumulate, "precision": precision}
    for step in fit(objective, course, optimiser, lambda _: 0.0, steps=range(200), **options):
        times.append(step.seconds)
        if len(times) > 2 and workers.agree(sum(times) > PROBE_SECONDS):
            break
    started = time.perf_counter()
    held_out.quick()
    seconds = (workers.add_up(time.perf_counter() - started)) / workers.world
    return workers.add_up(float(np.median(times[1:]))) / workers.world, seconds


def _unigram(tokens: Tokens) -> float:
    """The entropy of single tokens in the first million."""
    return unigram_entropy(np.bincount(tokens.ids[:1_000_000]).tolist())


def _tokenizer(
    given: Path | None, corpus: Corpus, out: Path, settings: Settings, workers: Workers, say: Callable[[str], None]
) -> Tokenizer:
    """The tokenizer that was named, or one trained on the corpus and kept in the run."""
    if given is not None:
        return Tokenizer.load(given)
    own = out / "tokenizer"
    if workers.first and not own.exists():
        from headstart.text.subwords import train_tokenizer

        say(f"Training a tokenizer of {settings.model.vocabulary:,} pieces on the corpus.")
        texts = (document.text for document in corpus.documents())
        train_tokenizer(texts, settings.model.vocabulary).save(own)
    workers.wait()
    return Tokenizer.load(own)


def _fit_shape(settings: Settings, cutter: Tokenizer, say: Callable[[str], None]) -> Settings:
    """The vocabulary is the tokenizer's; windows fit the context."""
    shape = settings.model
    if cutter.size != shape.vocabulary:
        say(f"The tokenizer has {cutter.size:,} ids, so model.vocabulary is {cutter.size}, not {shape.vocabulary}.")
        shape = replace(shape, vocabulary=cutter.size)
    if settings.data.length > shape.context:
        raise ConfigError(f"data.length is {settings.data.length}, but model.context only {shape.context}")
    return replace(settings, model=shape)


def _store(
    corpus: Corpus,
    cutter: Tokenizer,
    out: Path,
    settings: Settings,
    workers: Workers,
    read: Callable[[int], None],
    say: Callable[[str], None],
) -> Store:
    from headstart.text.store import open_store

    if workers.first:
        build_store(corpus, cutter, out / "tokens", holdout=settings.data.holdout, advance=read, say=say)
    workers.wait()
    return open_store(out / "tokens")


def _clear(out: Path) -> None:
    """A fresh run in a folder that was used before keeps its tokens, which are built again if anything changed."""
    import shutil

    for name in ("best", "last", "best.old", "last.old", "tokenizer"):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in ("metrics.jsonl", "run.toml"):
        (out / name).unlink(missing_ok=True)


class _Nothing:
    def __enter__(self) -> None:
        """Only the first worker holds the lock."""

    def __exit__(self, *_: object) -> None:
        """Nothing to let go of."""

"""Raw text to a language model: tokens, windows, next-token prediction, held-out scores."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from headstart.checkpoint import Card, load
from headstart.config import to_table
from headstart.data.windows import CausalWindows
from headstart.errors import ConfigError
from headstart.model.init import initialise
from headstart.model.models import LanguageModel, build
from headstart.recipes.held_out import HeldOut
from headstart.recipes.occupied import clear_run, refuse_occupied
from headstart.recipes.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.settings import Settings
from headstart.recipes.stopping import StopRule, plan_steps
from headstart.recipes.training import Job, Scores, Watcher, ignore, run
from headstart.text.reading.corpus import Corpus
from headstart.text.store import Store, Tokens
from headstart.text.stream import build_store
from headstart.text.tokenizer import Tokenizer
from headstart.train.course import Course
from headstart.train.dead import Watch, unigram_entropy, unknown_warning
from headstart.train.device import Workers, join_workers, resolve_precision
from headstart.train.lock import Lock
from headstart.train.memory import keep_freed_memory
from headstart.train.objectives import NextToken
from headstart.train.optimiser import adamw, rate_schedule

ShowReading = Callable[[int], AbstractContextManager[Callable[[int], None]]]


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
    show_reading: ShowReading = lambda size: nullcontext(ignore),
) -> Pretrained:
    """Train on the corpus until `stop`. `say` hears sentences, `watch` steps and scores.

    `show_reading(size)` gives what is told the bytes read while the corpus is encoded.
    """
    workers = join_workers(device)
    if workers.first:
        refuse_occupied(out, force=force, resume=resume)
    keep_freed_memory()
    corpus = Corpus(corpus_paths, settings.reading)
    say(f"{len(corpus.files)} file(s), {corpus.bytes / 1e6:,.1f} MB. {corpus.guess}".strip())
    with Lock(out) if workers.first else nullcontext():
        if not resume and workers.first:
            clear_run(out)
        cutter = _tokenizer(tokenizer, corpus, out, settings, workers, say)
        settings = _fit_shape(settings, cutter, say)
        store = _store(corpus, cutter, out, settings, workers, show_reading, say)
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
        found = origin | plan_steps(objective, course, held_out.quick, stop, train, workers, precision, say)
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
    show_reading: ShowReading,
    say: Callable[[str], None],
) -> Store:
    from headstart.text.store import open_store

    if workers.first:
        with show_reading(corpus.bytes) as advance:
            build_store(corpus, cutter, out / "tokens", holdout=settings.data.holdout, advance=advance, say=say)
    workers.wait()
    return open_store(out / "tokens")

"""Pairs of sentences to a translator: tokenizers, batches of like length, next-word prediction, BLEU on validation."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from headstart.checkpoint import load
from headstart.config import to_table
from headstart.data.buckets import Bucketing
from headstart.data.pairs import Fitting, TranslationPairs
from headstart.errors import ConfigError
from headstart.generate.beam import Search
from headstart.recipes.pretraining.second_phase import refuse_own_child
from headstart.recipes.running.occupied import clear_run, refuse_cleared, refuse_occupied
from headstart.recipes.running.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.running.stopping import StopRule, plan_steps
from headstart.recipes.running.training import Job, Scores, Watcher, ignore, run
from headstart.recipes.settings import Settings
from headstart.recipes.translating.averaging import Averaged, choose, point_steps
from headstart.recipes.translating.begun import fresh_tongues, settle
from headstart.recipes.translating.brevity import Ranked, choose_penalty
from headstart.recipes.translating.pair_files import Encoded, hash_pairs, read_all, repeats
from headstart.recipes.translating.recut import recut
from headstart.recipes.translating.scene import Scene, build_model, check_body
from headstart.recipes.translating.two_tongues import NONE, Given, check_tongues, prepare_tongues
from headstart.recipes.translating.validation import Validation, worth
from headstart.train.board import check_installed
from headstart.train.course import Course
from headstart.train.dead import Watch, unigram_entropy
from headstart.train.device import join_workers, resolve_precision
from headstart.train.keeping import Memory
from headstart.train.lock import Lock
from headstart.train.loop import Step
from headstart.train.optimiser import adamw, rate_schedule
from headstart.train.points import Points
from headstart.train.transfer import Ledger
from headstart.train.translation import NextWord

POOL = 8  # batches of the most rows that are sorted by length together


@dataclass(frozen=True)
class TrainedTranslator:
    """What a run came to. `scores` are the kept model's on all of validation, BLEU with `beam` hypotheses."""

    folder: Path
    steps: int
    tokens: int
    seconds: float
    scores: Scores
    beam: int
    averaged: Averaged | None
    ranked: Ranked
    ledger: Ledger
    notes: tuple[str, ...]  # on the pairs; told before the training
    warning: str = ""


def translator(
    train: str,
    valid: str,
    out: Path,
    *,
    settings: Settings,
    stop: StopRule,
    start: Path | None = None,
    given: Given = NONE,
    seed: int = 0,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    tensorboard: bool = False,
    say: Callable[[str], None] = ignore,
    watch: Watcher = ignore,
    begin: Callable[[int, int], None] = lambda steps, done: None,
) -> TrainedTranslator:
    """Learn from the pairs of `train` until `stop`; choose on those of `valid`.

    A run to `start` from brings its body, its shape and its tokenizer.
    """
    if tensorboard:
        check_installed()
    if settings.train.loss == "sampled":
        raise ConfigError("train.loss=sampled: a translator learns with the exact loss only; leave the setting out")
    if settings.translator.agreement and not settings.model.drops:
        raise ConfigError(
            "translator.agreement compares two passes under different dropout, but nothing is dropped: "
            "set model.dropout=0.3 or the like, or leave the agreement out"
        )
    workers = join_workers(device)
    if start is not None:
        refuse_own_child(out, start)
    if workers.first:
        refuse_occupied(out, force=force, resume=resume)
    if not resume:
        refuse_cleared(out, given.tokenizer, given.source_tokenizer)
    pairs, held = read_all(train, settings.reading), read_all(valid, settings.reading)
    saved = load(start) if start is not None else None
    if saved is not None:
        check_body(saved)
    check_tongues(settings, saved, given)
    say(f"{len(pairs):,} training pairs, {len(held):,} for validation.")
    with Lock(out) if workers.first else nullcontext(), fresh_tongues(out, resume, workers) as folder:
        tongues = prepare_tongues(pairs, folder, settings, saved, given, workers, say)
        if tongues.target.size != settings.model.vocabulary:
            say(
                f"The target's tokenizer has {tongues.target.size:,} ids, so model.vocabulary is {tongues.target.size}."
            )
        torch.manual_seed(seed)
        model, ledger, card = build_model(saved, settings, tongues)
        scene = Scene(
            out=out,
            model=model.to(workers.device),
            card=replace(card, corpus=hash_pairs(pairs)),
            tongues=tongues,
            train=Encoded.of(pairs, tongues.source, tongues.target),
            valid=Encoded.of(held, tongues.source, tongues.target),
            ledger=ledger,
            settings=replace(settings, model=card.shape),
            workers=workers,
        )
        texts = _batches(scene, seed)
        card = replace(scene.card, growth=max(scene.card.growth, texts.growth), longest=_longest(scene))
        scene = replace(scene, card=card)
        validation = scene.validation(settings.translator.bleu_sentences)  # the last thing that can be found missing
        workers.wait()  # until all have read their tokenizers
        if not resume and workers.first:
            clear_run(out)
            settle(folder, out)
        workers.wait()
        return _train(scene, texts, validation, stop, seed, resume, tensorboard, say, watch, begin)


def _train(
    scene: Scene,
    texts: TranslationPairs,
    validation: Validation,
    stop: StopRule,
    seed: int,
    resume: bool,
    tensorboard: bool,
    say: Callable[[str], None],
    watch: Watcher,
    begin: Callable[[int, int], None],
) -> TrainedTranslator:
    out, model, workers, train = scene.out, scene.model, scene.workers, scene.settings.train
    options = scene.settings.translator
    notes = _told(scene, texts, validation, say)
    course, objective = Course(texts), NextWord(model, options.smoothing, options.agreement)
    precision = resolve_precision(train.precision, workers.device, scene.card.shape.width)
    steps, every = _plan(scene, objective, course, validation, stop, seed, resume, precision, say)
    points = Points(out / "points", options.average, options.average_of)
    at_evaluations = options.average_of == "best" or train.patience > 0  # the end of a patient run is not known
    marks = frozenset() if at_evaluations else point_steps(steps, options)
    optimiser = adamw(
        model,
        weight_decay=train.weight_decay,
        betas=(train.beta1, train.beta2),
        scales=dict.fromkeys(scene.ledger.kept, options.carried_rate),
    )
    dead = Watch(
        uniform=math.log(scene.card.shape.vocabulary),
        unigram=unigram_entropy(np.bincount(scene.train.targets.ids).tolist()),
        warm=max(50, round(2 * train.warmup * steps)),
        scaled=precision == "float16",
    )

    def evaluate(memory: Memory) -> Scores:
        scores = validation.scores(model)
        choice = worth(scores, options.choice)
        if workers.first and at_evaluations and options.average > 1:
            points.add(memory.step, choice, model)
        return {**scores, "choice": choice}

    def see(step: Step) -> None:
        dead.see(step.number, step.loss, step.norm)
        if step.number in marks and options.average > 1:
            optimiser.wake_all()
            if workers.first:
                points.add(step.number, 0.0, model)

    job = Job(
        folder=out,
        model=model,
        objective=objective,
        course=course,
        optimiser=optimiser,
        rate_at=rate_schedule(train.rate, steps, warmup=train.warmup, decay=train.decay, floor=train.floor),
        steps=steps,
        card=scene.card,
        tokenizer=scene.tongues.target,
        source_tokenizer=scene.tongues.own_source,
        workers=workers,
        evaluate=evaluate,
        evaluates_at=lambda step: step % every == 0 or step == steps,
        score="choice",
        better=1,
        save_every=train.save_every,
        patience=train.patience,
        seed=seed,
        clip=train.clip,
        accumulate=train.accumulate,
        precision=precision,
        tensorboard=tensorboard,
        see=see,
        watch=lambda event: watch(_shown(event) if isinstance(event, dict) else event),
        begin=begin,
    )
    memory = run(job, resume=resume)
    how = Search()
    safe = "; Ctrl-C and --resume lose nothing" if train.save_every else ""
    say(f"The training is over. The kept model translates the validation{safe}.")
    scores, averaged = choose(scene, points, memory, how)
    scores, ranked = choose_penalty(scene, scores, how)
    return TrainedTranslator(
        folder=out,
        steps=memory.step,
        tokens=memory.tokens,
        seconds=memory.seconds,
        scores=scores,
        beam=how.beam,
        averaged=averaged,
        ranked=ranked,
        ledger=scene.ledger,
        notes=notes,
        warning=dead.judge(memory.step, scores["held_out_loss"]),
    )


def _shown(scores: Scores) -> Scores:
    """Without what only repeats one of them."""
    return {name: value for name, value in scores.items() if name != "choice"}


def _told(scene: Scene, texts: TranslationPairs, validation: Validation, say: Callable[[str], None]) -> tuple[str, ...]:
    """What is to be known of the pairs before hours are spent on them, and what a pretrained body brought."""
    held = f"--valid: {validation.pairs.note}" if validation.pairs.note else ""
    notes = tuple(note for note in (texts.note, held, *repeats(scene.train.pairs, scene.valid.pairs)) if note)
    for note in notes:
        say(f"Note: {note}")
    say(scene.ledger.sentence())
    return notes


def _plan(
    scene: Scene,
    objective: NextWord,
    course: Course,
    validation: Validation,
    stop: StopRule,
    seed: int,
    resume: bool,
    precision: str,
    say: Callable[[str], None],
) -> tuple[int, int]:
    """How many steps there will be, and after how many each evaluation: from run.toml, or written there."""
    asked = {**to_table(scene.settings), "stop": asdict(stop)}
    origin = {"objective": "translate", "seed": seed, "from": scene.card.parent or "scratch"}
    origin |= {"tokenizer": scene.tongues.target.hash, "source_tokenizer": scene.tongues.source.hash}
    origin |= {"train": hash_pairs(scene.train.pairs), "valid": hash_pairs(scene.valid.pairs)}
    found = read_run_file(scene.out).get("run", {}) if resume else {}
    workers = scene.workers
    if found:
        note = check_unchanged(scene.out, asked, origin | {k: v for k, v in found.items() if k not in origin})
        if note:
            say(note)
    else:
        train = scene.settings.train
        evaluate = lambda: validation.rehearse(scene.model)  # noqa: E731
        found = origin | plan_steps(objective, course, evaluate, stop, train, workers, precision, say)
        if workers.first:
            write_run_file(scene.out, asked, found)
    workers.wait()
    return int(found["steps"]), int(found["evaluate_every"])


def _batches(scene: Scene, seed: int) -> TranslationPairs:
    options, longest = scene.settings.translator, _longest(scene)
    anew, room = None, 1.0
    if options.piece_dropout:
        anew, room = recut(scene.train, scene.tongues, options.piece_dropout, longest, seed)
    return TranslationPairs(
        scene.train.sources,
        scene.train.targets,
        tokenizer=scene.tongues.target,
        fitting=Fitting(longest=longest, largest_ratio=options.largest_ratio),
        bucketing=Bucketing(rows=options.rows, budget=options.tokens, pool=POOL),
        seed=seed,
        recut=anew,
        room=room,
    )


def _longest(scene: Scene) -> int:
    """Tokens of either side, `<eos>` counted; learned positions set an end of their own."""
    longest, shape = scene.settings.translator.longest, scene.card.shape
    return min(longest, shape.context) if shape.positions == "learned" else longest

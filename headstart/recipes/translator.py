"""The job behind `headstart translator`: pairs of sentences in, a translator out."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import torch

from headstart.checkpoint import load
from headstart.data.buckets import Bucketing
from headstart.data.pairs import Fitting, TranslationPairs
from headstart.errors import ConfigError
from headstart.recipes.pretraining.second_phase import refuse_own_child
from headstart.recipes.running.occupied import clear_run, refuse_cleared, refuse_occupied
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.running.training import Watcher, ignore
from headstart.recipes.settings import Settings
from headstart.recipes.translating.begun import fresh_tongues, settle
from headstart.recipes.translating.learning import Going, TrainedTranslator, learn
from headstart.recipes.translating.pair_files import Encoded, hash_pairs, read_all
from headstart.recipes.translating.recut import recut
from headstart.recipes.translating.scene import Scene, build_model, check_body
from headstart.recipes.translating.two_tongues import NONE, Given, check_tongues, prepare_tongues
from headstart.text.readers import unheaded
from headstart.train.board import check_installed
from headstart.train.device import join_workers
from headstart.train.lock import Lock

POOL = 8  # batches of the most rows that are sorted by length together


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
    for note in filter(None, (unheaded(spec, settings.reading) for spec in (train, valid))):
        say(f"Note: {note}.")
    with Lock(out) if workers.first else nullcontext(), fresh_tongues(out, resume, workers) as folder:
        tongues = prepare_tongues(pairs, folder, settings, saved, given, workers, say)
        if (size := tongues.target.size) != settings.model.vocabulary:
            say(f"The target's tokenizer has {size:,} ids, so model.vocabulary is {size}.")
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
        going = Going(stop=stop, seed=seed, resume=resume, tensorboard=tensorboard, say=say, watch=watch, begin=begin)
        return learn(scene, texts, validation, going)


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

"""Which way to pretrain is best for these labels? Bodies of one shape at equal compute, beside the classic baselines.

    read and look for leaks -> pretrain each body -> fine-tune each over several seeds -> open the test -> report

All bodies read the same tokens. Finished bodies and arms are kept; --resume does the rest. Test labels and
predictions exist only in the last two stages.
"""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from headstart.recipes.comparing.all_arms import Show, openings, train_arms, unseen
from headstart.recipes.comparing.answers import open_test
from headstart.recipes.comparing.arms import ARMS, INPUTS, Table, refuse_changed, refuse_other_inputs, write_json
from headstart.recipes.comparing.plan import Bench, Parts, plan, read_parts
from headstart.recipes.pretraining.ground import ShowReading
from headstart.recipes.pretraining.objectives import OBJECTIVES
from headstart.recipes.running.occupied import refuse_cleared, refuse_occupied
from headstart.recipes.running.training import ignore
from headstart.recipes.shooting.bodies import Body, Ground, ShootoutTools, lay_ground, pretrain_bodies, starts_of
from headstart.recipes.shooting.ranking import ranking
from headstart.recipes.shooting.rules import Rules
from headstart.report.shootout import write_shootout
from headstart.text.reading.corpus import Corpus
from headstart.train.device import refuse_workers
from headstart.train.lock import Lock

__all__ = ["Rules", "ShootoutTools", "ShotOut", "shootout"]
SCORES, PAGE = "scores.json", "report.html"


@dataclass(frozen=True)
class ShotOut:
    """`scores` is what stands in scores.json."""

    folder: Path
    scores: Table

    @property
    def page(self) -> Path:
        return self.folder / PAGE


def shootout(
    rules: Rules,
    *,
    resume: bool = False,
    force: bool = False,
    say: Callable[[str], None] = ignore,
    show: Show = unseen,
    show_reading: ShowReading = lambda size: nullcontext(ignore),
    tools: ShootoutTools = ShootoutTools(),  # noqa: B008 (frozen)
) -> ShotOut:
    """`say` hears a sentence for each finding, body and arm; `show(title)` gives what watches one training."""
    out = rules.out
    refuse_workers("shootout")
    refuse_occupied(out, force=force, resume=resume)
    if not resume:
        refuse_cleared(out, rules.tokenizer)
    corpus = Corpus(rules.corpus, rules.settings.reading)
    inputs = rules.inputs(corpus)
    if not force or resume:
        refuse_other_inputs(out, inputs)
    parts = read_parts(rules, corpus.documents(), ", ".join(rules.corpus), say)
    with Lock(out):
        if force and not resume:
            _clear(out)
        write_json(out / INPUTS, inputs)
        ground = lay_ground(rules, corpus, say, show_reading)
        bodies = pretrain_bodies(rules, ground, say, show, tools)
        bench = _bench(rules, parts, ground, bodies)
        arms = plan(rules, bench)
        refuse_changed(arms, out)
        train_arms(arms, bench, rules, say, show, tools)
        answers = open_test(rules, bench, arms, say, tools)
        scores = ranking(rules, bench, ground, bodies, arms, answers, openings(out / SCORES, arms))
        write_json(out / SCORES, scores)
        write_shootout(out / SCORES, out / PAGE)
    return ShotOut(out, scores)


def _bench(rules: Rules, parts: Parts, ground: Ground, bodies: list[Body]) -> Bench:
    starts = starts_of(rules, bodies)
    settings = replace(rules.settings, model=starts[0].card.shape)
    return Bench(**vars(parts), starts=starts, tokenizer=ground.tokenizer, settings=settings)


def _clear(out: Path) -> None:
    for name in (ARMS, "tokenizer", "tokens", *OBJECTIVES):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in (SCORES, PAGE, INPUTS):
        (out / name).unlink(missing_ok=True)

"""The bodies of a shoot-out: one tokenizer, one set of tokens, and as much compute for each objective.

    OUT/tokenizer/  OUT/tokens/         what all of them read
    OUT/causal/  masked/  bert/         runs like those of `headstart pretrain`; pretrained.json is written last

Each run has the tokens under its own name too, so that it can be used like any other.
"""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from headstart.checkpoint import Card, find, read_card
from headstart.recipes.comparing.all_arms import Show
from headstart.recipes.comparing.arms import Start, Table, read_json, write_json
from headstart.recipes.comparing.one_arm import Tools
from headstart.recipes.pretrain import Pretrained, pretrain
from headstart.recipes.pretraining.ground import ShowReading, fit_settings, prepare_store, prepare_tokenizer
from headstart.recipes.pretraining.objectives import OBJECTIVES, Name
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.running.training import ignore
from headstart.recipes.shooting.counted_work import operations_per_step
from headstart.recipes.shooting.rules import Rules
from headstart.text.reading.corpus import Corpus
from headstart.text.store import Store
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import join_workers
from headstart.whole import MANIFEST, sha256

PRETRAINED = "pretrained.json"


@dataclass(frozen=True, kw_only=True)
class ShootoutTools(Tools):
    """The jobs that a shoot-out leaves to others; tests put others in their place."""

    pretrain: Callable[..., Pretrained] = pretrain


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What all bodies share."""

    corpus: Corpus
    tokenizer: Tokenizer
    store: Store


@dataclass(frozen=True, kw_only=True)
class Body:
    """A finished pretraining; `cost` is what stands in pretrained.json."""

    objective: Name
    folder: Path
    cost: Table

    @property
    def card(self) -> Card:
        return read_card(find(self.folder))


def lay_ground(
    rules: Rules,
    corpus: Corpus,
    say: Callable[[str], None],
    show_reading: ShowReading = lambda size: nullcontext(ignore),
) -> Ground:
    """The tokenizer, with what it takes to look both ways, and the corpus as its ids, one part held out."""
    workers, own = join_workers(rules.device), rules.out / "tokenizer"
    if rules.tokenizer is not None and not own.exists():
        Tokenizer.load(rules.tokenizer).with_bidirectional().save(own)
    tokenizer = prepare_tokenizer(None, OBJECTIVES["masked"], corpus, rules.out, rules.settings, workers, say)
    holdout = rules.settings.data.holdout
    store = prepare_store(corpus, tokenizer, rules.out / "tokens", holdout, workers, show_reading, say)
    return Ground(corpus=corpus, tokenizer=tokenizer, store=store)


def pretrain_bodies(
    rules: Rules, ground: Ground, say: Callable[[str], None], show: Show, tools: ShootoutTools
) -> list[Body]:
    """One after the other; those that are finished are kept."""
    bodies: list[Body] = []
    for name in rules.objectives:
        folder = rules.out / name
        if not (folder / PRETRAINED).is_file():
            budget = bodies[0].cost["operations"] if bodies and rules.equal == "flops" else 0.0
            write_json(folder / PRETRAINED, _pretrain(name, folder, rules, ground, budget, say, show, tools))
        body = Body(objective=name, folder=folder, cost=read_json(folder / PRETRAINED))
        say(f"{name}: {_in_words(body.cost)}")
        bodies.append(body)
    return bodies


def starts_of(rules: Rules, bodies: list[Body]) -> tuple[Start, ...]:
    """What is fine-tuned: each body, and where asked for the same from scratch, one for each way to look."""
    starts = [
        Start(system=body.objective, card=body.card, run=body.folder, parent=sha256(find(body.folder) / MANIFEST))
        for body in bodies
    ]
    cards = {card.causal: card for card in reversed([start.card for start in starts])} if rules.scratch else {}
    return (*starts, *(Start(system=scratch_name(way), card=cards[way]) for way in sorted(cards, reverse=True)))


def scratch_name(causal: bool) -> str:
    return "scratch-causal" if causal else "scratch-bidirectional"


def _pretrain(
    name: Name,
    folder: Path,
    rules: Rules,
    ground: Ground,
    budget: float,
    say: Callable[[str], None],
    show: Show,
    tools: ShootoutTools,
) -> Table:
    """`budget` is in operations; 0 stands for the minutes that were asked for."""
    objective = OBJECTIVES[name]
    settings = fit_settings(rules.settings, ground.tokenizer, objective, None, ignore)
    each, positions = operations_per_step(objective, settings, ground.store, ground.tokenizer, rules.seed)
    stop = StopRule(steps=max(1, round(budget / each))) if budget else StopRule(minutes=rules.minutes)
    _share_tokens(rules.out / "tokens", folder)
    with show(f"pretraining {name}") as progress:
        done = tools.pretrain(
            list(rules.corpus),
            folder,
            settings=rules.settings,
            stop=stop,
            objective=name,
            tokenizer=rules.out / "tokenizer",
            seed=rules.seed,
            device=rules.device,
            resume=True,
            say=say,
            watch=progress.watch,
            begin=progress.begin,
        )
    windows = objective.windows(ground.store.train, settings.data, ground.tokenizer, rules.seed)
    return {
        "steps": done.steps,
        "tokens": done.tokens,
        "epochs": done.steps * settings.train.accumulate / windows.steps(0),
        "seconds": done.seconds,
        "operations": each / positions * done.tokens,
        "scores": done.scores,
        "notes": list(done.notes),
    }


def _share_tokens(store: Path, folder: Path) -> None:
    """The run has the same files under its own name, without a copy where the disk can do that."""
    if (folder / "tokens").exists():
        return
    aside = folder / "tokens.new"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(store, aside, copy_function=_linked)
    aside.rename(folder / "tokens")


def _linked(source: str, target: str) -> None:
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _in_words(cost: Table) -> str:
    figures = f"{cost['steps']:,} steps, {cost['tokens']:,} tokens, {cost['epochs']:.2f} epochs"
    return f"{figures}, {cost['operations']:.2e} operations in {cost['seconds'] / 60:.1f} minutes"

"""What a comparison will do: the rows, the arms, and which rows each arm may learn from."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from headstart.checkpoint import Card, find, read_card
from headstart.config import to_table
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.evaluate.baseline import CLASSICS, STRENGTHS
from headstart.evaluate.subsets import nested_order
from headstart.recipes.comparing.arms import Arm, Start
from headstart.recipes.comparing.leaks import Leaks, find_leaks, pretraining_text
from headstart.recipes.finetuning.classifier import pooling_of, suited
from headstart.recipes.guess import without_known
from headstart.recipes.labels import hash_rows, label_names
from headstart.recipes.second_texts import check_seconds, seconds
from headstart.recipes.settings import Settings
from headstart.text.readers import Corpus, read_labelled, read_rows
from headstart.text.records import Document, Reading, Row
from headstart.text.tokenizer import Tokenizer
from headstart.train.settings import FineTuning
from headstart.whole import MANIFEST, sha256


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What every comparison of systems on the same labelled rows is asked for; `corpus` is the pretraining text."""

    train: str
    valid: str
    test: str
    out: Path
    settings: Settings = field(default_factory=Settings)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    label_counts: tuple[int, ...] = ()
    corpus: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()  # texts whose labels every model may guess and learn from
    device: str = "auto"
    jobs: int = 1  # arms to train at once; 0: as many as there are cores
    command: str = ""

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ConfigError("--seeds must be at least 1")
        if self.jobs < 0:
            raise ConfigError("--jobs must be at least 1, or 0 for as many as there are cores")
        if self.settings.finetune.baseline:
            raise ConfigError(
                "finetune.baseline is true, but here each model is judged alone, beside the baselines; leave it out, "
                "and use it in headstart finetune --with-baseline"
            )


@dataclass(frozen=True, kw_only=True)
class Request(Contest):
    """What was the head start of `run` worth? `corpus` is needed only where the run kept none of its text."""

    run: Path


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The labelled rows. `test` has no labels: they stay closed until every arm is finished."""

    train: list[Row]
    valid: list[Row]
    test: list[Row]
    labels: tuple[str, ...]
    leaks: Leaks
    unlabelled: Sequence[Row] = ()

    def numbers(self, rows: Sequence[Row]) -> np.ndarray:
        known = {label: number for number, label in enumerate(self.labels)}
        return np.array([known[row.label] for row in rows])


@dataclass(frozen=True, kw_only=True)
class Bench(Parts):
    """All that the arms share, and what each neural system starts from."""

    starts: tuple[Start, ...]
    tokenizer: Tokenizer
    settings: Settings

    @property
    def card(self) -> Card:
        """Of the first system, whose shape the others share."""
        return self.starts[0].card

    @cached_property
    def guessing(self) -> dict[str, str]:
        """What an arm depends on, where labels are guessed."""
        return {"unlabelled": hash_rows(self.unlabelled)} if self.unlabelled else {}


def prepare(request: Request, say: Callable[[str], None]) -> Bench:
    """Read everything that may be read before training, and find what leaks."""
    folder = find(request.run)
    card = read_card(folder)
    if card.task == "translate":
        raise CheckpointError(f"{request.run}: is a translator, without a body to learn labels; give a pretrained run")
    pooling_of(request.settings.finetune, card.causal)  # one that this body cannot have is refused
    if not card.tokenizer:
        raise CheckpointError(f"{folder}: saved without a tokenizer, so it cannot read text")
    tokenizer, reading = Tokenizer.load(folder / "tokenizer"), request.settings.reading
    corpus, searched = pretraining_text(request.run, request.corpus, reading, tokenizer, card.corpus)
    pretrained = Start(system="pretrained", card=card, run=request.run, parent=sha256(folder / MANIFEST))
    return Bench(
        **vars(read_parts(request, corpus, searched, say)),
        starts=(pretrained, Start(system="scratch", card=card)),
        tokenizer=tokenizer,
        settings=replace(request.settings, model=card.shape),
    )


def read_parts(contest: Contest, corpus: Iterator[Document] | None, searched: str, say: Callable[[str], None]) -> Parts:
    """The labelled rows, searched for leaks; `searched` is a phrase on what the `corpus` is."""
    reading = contest.settings.reading
    train, valid = read_labelled(contest.train, reading), read_labelled(contest.valid, reading)
    test = list(without_labels(contest.test, reading))
    labels = label_names(train)
    _refuse_strangers(valid, labels)
    for part in (valid, test):
        check_seconds(part, seconds(train))
    fewer_labels(contest, len(train), len(labels))
    leaks = find_leaks(train, valid, test, corpus, searched)
    unlabelled = _more_texts(contest, test)
    if unlabelled:
        sentence = f"models also learn from labels guessed for {len(unlabelled):,} unlabelled texts, none of the test"
        leaks = replace(leaks, sentences=(*leaks.sentences, sentence))
    for sentence in leaks.sentences:
        say(f"Data: {sentence}.")
    return Parts(train=train, valid=valid, test=test, labels=labels, leaks=leaks, unlabelled=unlabelled)


def _more_texts(contest: Contest, test: Sequence[Row]) -> list[Row]:
    """The unlabelled texts; one that stands in the test is left out, so that no guess is made of it."""
    if not contest.unlabelled:
        return []
    found = without_known(list(Corpus(contest.unlabelled, contest.settings.reading).documents()), test)
    if not found:
        raise DataError(f"--unlabelled {contest.unlabelled[0]}: every text of it stands in {contest.test}")
    return found


def without_labels(spec: str, reading: Reading) -> Iterator[Row]:
    """The test rows for the leak guard; a missing label is refused now, not after hours, but none is handed on."""
    for row in read_rows(spec, reading):
        yield replace(row, label="")


def fewer_labels(contest: Contest, everything: int, classes: int) -> list[int]:
    """The numbers of labels of the curve below `everything`, the largest first."""
    counts = [n for n in sorted(set(contest.label_counts), reverse=True) if n != everything]
    if any(n < classes or n > everything for n in counts):
        raise ConfigError(
            f"--label-counts {','.join(map(str, contest.label_counts))}: from {classes} (one of each class) "
            f"to {everything:,} (all of {contest.train}) are possible"
        )
    return counts


def plan(contest: Contest, bench: Bench) -> list[Arm]:
    """Every arm, in the order in which they run: the whole set of labels first, then fewer and fewer."""
    everything = len(bench.train)
    counts = fewer_labels(contest, everything, len(bench.labels))
    shared = _shared_inputs(bench)
    whole = tuple(range(everything))
    arms = [_arm(bench, shared, start, seed, whole) for seed in contest.seeds for start in bench.starts]
    arms += [_arm(bench, shared, kind.name, 0, whole) for kind in CLASSICS]
    texts = [row.label for row in bench.train]
    orders = {seed: nested_order(texts, seed) for seed in contest.seeds} if counts else {}
    systems: list[Start | str] = [*bench.starts, *(kind.name for kind in CLASSICS if kind.pieces)]
    for n in counts:
        for seed in contest.seeds:
            arms += [_arm(bench, shared, system, seed, tuple(orders[seed][:n])) for system in systems]
    return arms


def _arm(bench: Bench, shared: dict[str, Any], of: Start | str, seed: int, rows: tuple[int, ...]) -> Arm:
    """`of` is what the models of a neural system start from, or the name of a classic baseline."""
    start = of if isinstance(of, Start) else None
    system = of.system if isinstance(of, Start) else of
    few = len(rows) < len(bench.train)
    epochs = _epochs(bench.settings.finetune, len(rows), few)
    inputs = {**shared, "system": system, "train": hash_rows([bench.train[row] for row in rows])}
    if start is not None:
        options = suited(bench.settings.finetune, start.card.causal)
        sections = {"model": to_table(start.card.shape), "finetune": to_table(options)}
        sections["finetune"]["epochs"] = epochs
        inputs |= {**sections, "seed": seed, "from": start.parent, "tokenizer": bench.tokenizer.hash}
        inputs |= bench.guessing
    else:
        kind = next(kind for kind in CLASSICS if kind.name == system)
        inputs |= {"pieces": list(kind.pieces), "strengths": list(STRENGTHS)}
    plain = json.loads(json.dumps(inputs))
    return Arm(system=system, seed=seed, rows=rows, few=few, epochs=epochs, inputs=plain, start=start)


def _epochs(options: FineTuning, rows: int, few: bool) -> int:
    """A number that was asked for is meant for all rows; fewer are gone over as often as they need, by all alike."""
    asked = options.epochs_for(rows)
    return max(asked, replace(options, epochs=0).epochs_for(rows)) if few else asked


def _shared_inputs(bench: Bench) -> dict[str, Any]:
    return {"valid": hash_rows(bench.valid), "labels": list(bench.labels)}


def _refuse_strangers(rows: Sequence[Row], labels: tuple[str, ...]) -> None:
    stranger = next((row for row in rows if row.label not in labels), None)
    if stranger is not None:
        raise DataError(
            f"{stranger.source}:{stranger.line}: label {stranger.label!r} does not stand in the training data, "
            f"which has {', '.join(labels[:10])}"
        )

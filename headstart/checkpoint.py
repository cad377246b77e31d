"""A saved model: its weights, its shape, its tokenizer, its labels and where it comes from, in one folder."""

import errno
import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from headstart.config import build as build_settings
from headstart.data.pairs import MOST_GROWTH, MOST_PENALTY
from headstart.errors import CheckpointError, ConfigError
from headstart.model.bill import bill, total
from headstart.model.body import Body
from headstart.model.models import Classifier, LanguageModel, MaskedModel, Pooling, Task, Translator
from headstart.model.shape import MOST, Shape
from headstart.text.tokenizer import Tokenizer
from headstart.whole import find_whole, write_whole

CARD, WEIGHTS, TOKENIZER, SOURCE_TOKENIZER = "card.json", "model.safetensors", "tokenizer", "source_tokenizer"


@dataclass(frozen=True, kw_only=True)
class Card:
    """What travels with the weights. `parent` and `corpus` say where they come from, by hash."""

    task: Task
    shape: Shape
    causal: bool = True
    pooling: Pooling = "last"
    labels: tuple[str, ...] = ()
    text_b: Literal["none", "some", "all"] = "some"  # which of a classifier's training rows had a second text
    temperature: float = 1.0
    baseline: bool = False  # a classifier's predictions are the mean of its own and of the baseline saved beside it
    keep: Literal["start", "end", "both"] = "start"  # of a text that is longer than the context
    tokenizer: str = ""
    source_tokenizer: str = ""  # of a translator that reads with another one than it writes with
    source_vocabulary: int = 0  # of a translator whose reader has a table of its own
    growth: float = 2.0  # a translation has at most so many times the tokens of its source, and ten more
    penalty: float = 0.6  # with which a translator's hypotheses are ranked, chosen on validation
    longest: int = 0  # tokens of a source, its <eos> counted, that a translator learnt from at most; 0: the context
    step: int = 0
    scores: dict[str, float] = field(default_factory=dict)
    parent: str = ""
    corpus: str = ""

    def __post_init__(self) -> None:
        if self.task in ("lm", "masked", "bert") and self.causal != (self.task == "lm"):
            raise ValueError(f"a {self.task} model cannot be causal = {self.causal}")
        if (self.task == "classify") != bool(self.labels):
            raise ValueError(f"a {self.task} model with {len(self.labels)} labels")
        if not 0 <= self.source_vocabulary <= MOST["vocabulary"]:
            raise ValueError(f"source_vocabulary is {self.source_vocabulary}")
        if self.longest < 0:
            raise ValueError(f"longest is {self.longest}")
        if not 0 <= self.penalty <= MOST_PENALTY:
            raise ValueError(f"penalty is {self.penalty}")
        if not 0 < self.growth <= MOST_GROWTH:
            raise ValueError(f"growth is {self.growth}")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature is {self.temperature}")

    def build(self) -> nn.Module:
        classes = max(len(self.labels), 1)
        return build(
            self.task,
            self.shape,
            causal=self.causal,
            classes=classes,
            pooling=self.pooling,
            source_vocabulary=self.source_vocabulary,
        )


def build(
    task: Task,
    shape: Shape,
    *,
    causal: bool = True,
    classes: int = 2,
    pooling: Pooling = "last",
    source_vocabulary: int = 0,
) -> nn.Module:
    """The model of a task, its weights not yet set; `causal`, `classes` and `pooling` matter to a classifier only.

    A translator's reader has a table of its own for `source_vocabulary` tokens, or shares the writer's (0).
    """
    match task:
        case "lm":
            return LanguageModel(Body(shape, causal=True))
        case "classify":
            return Classifier(Body(shape, causal=causal), classes, pooling=pooling, dropout=shape.dropout)
        case "masked" | "bert":
            return MaskedModel(Body(shape, causal=False), next_sentence=task == "bert")
        case "translate":
            read = replace(shape, vocabulary=source_vocabulary or shape.vocabulary)
            reader, writer = Body(read, causal=False), Body(shape, causal=True, reads_memory=True)
            return Translator(reader, writer, shared=not source_vocabulary)


@dataclass(frozen=True)
class Saved:
    """A model as it was saved; the tokenizer is read when it is asked for."""

    folder: Path
    card: Card
    model: nn.Module

    @cached_property
    def tokenizer(self) -> Tokenizer:
        if not self.card.tokenizer:
            raise CheckpointError(f"{self.folder}: saved without a tokenizer, so it cannot read text")
        return Tokenizer.load(self.folder / TOKENIZER)

    @cached_property
    def source_tokenizer(self) -> Tokenizer:
        """What a translator reads with."""
        return Tokenizer.load(self.folder / SOURCE_TOKENIZER) if self.card.source_tokenizer else self.tokenizer


def save(
    folder: Path,
    model: nn.Module,
    card: Card,
    tokenizer: Tokenizer | None = None,
    *,
    source_tokenizer: Tokenizer | None = None,
    also: Callable[[Path], None] = lambda folder: None,
) -> None:
    """Write a model whole or not at all; `also` may add files, such as the state of a training."""
    card = replace(card, tokenizer=tokenizer.hash) if tokenizer else card
    card = replace(card, source_tokenizer=source_tokenizer.hash) if source_tokenizer else card

    def fill(new: Path) -> None:
        weights = {name: value.detach().contiguous() for name, value in model.named_parameters()}
        write_tensors(weights, new / WEIGHTS)
        (new / CARD).write_text(json.dumps(asdict(card), indent=1, ensure_ascii=False) + "\n", "utf-8")
        if tokenizer:
            tokenizer.save(new / TOKENIZER)
        if source_tokenizer:
            source_tokenizer.save(new / SOURCE_TOKENIZER)
        also(new)

    write_whole(folder, fill)


def load(run: Path, device: torch.device | str = "cpu") -> Saved:
    """Read a saved model strictly: whole, of the shape its card says, each tensor by name."""
    folder = find(run)
    card = read_card(folder)
    weights = read_tensors(folder / WEIGHTS, about=_parameters(card))
    model = card.build()
    put(weights, model, folder / WEIGHTS)
    saved = Saved(folder, card, model.to(device).eval())
    if card.tokenizer and saved.tokenizer.hash != card.tokenizer:
        raise CheckpointError(f"{folder / TOKENIZER}: not the tokenizer that this model was trained with")
    if card.source_tokenizer and saved.source_tokenizer.hash != card.source_tokenizer:
        raise CheckpointError(f"{folder / SOURCE_TOKENIZER}: not the tokenizer that this model was trained with")
    return saved


def find(run: Path) -> Path:
    """The folder of a model: `run` itself, or the best or else the last one of a run."""
    run = run.absolute() if run.name in ("", "..") else run
    if (run / CARD).is_file():
        return find_whole(run)
    for name in ("best", "last"):
        if (run / name).is_dir() or (run / f"{name}.old").is_dir():
            return find_whole(run / name)
    if run.name and (run.with_name(run.name + ".old") / CARD).is_file():
        return find_whole(run)
    if run.is_file():
        raise CheckpointError(f"{run}: is a file; name the folder of a run")
    what = "holds no saved model" if run.is_dir() else "no such run"
    how = "`headstart pretrain`, `headstart finetune` or `headstart translator`"
    raise CheckpointError(f"{run}: {what}. Make one with {how}, --out {run}")


def read_card(folder: Path) -> Card:
    path = folder / CARD
    try:
        table: dict[str, Any] = json.loads(path.read_text("utf-8"))
        scores = {str(name): float(value) for name, value in table.pop("scores", {}).items()}
        return replace(build_settings(Card, table, str(path)), scores=scores)
    except (ValueError, TypeError, AttributeError, OSError, RecursionError, ConfigError) as problem:
        raise CheckpointError(f"{path}: not the card of a saved model: {problem}") from None


def write_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    """What the system says against it, a full disk for instance, is raised as the OSError it is."""
    try:
        save_file(tensors, path)
    except SafetensorError as problem:
        number = re.search(r"os error (\d+)", str(problem))
        raise OSError(int(number[1]) if number else errno.EIO, str(problem), str(path)) from None


def read_tensors(path: Path, about: int) -> dict[str, Tensor]:
    """All tensors of a safetensors file, refused unread when they cannot be the `about` numbers of its card.

    `put` compares name by name; this keeps a card that lies from filling the memory before that.
    """
    try:
        with safe_open(path, framework="pt") as file:
            sizes = {name: torch.Size(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            found = sum(size.numel() for size in sizes.values())
            if not about / 2 <= found <= about * 2:
                raise CheckpointError(f"{path}: holds {found:,} numbers, but the shape on its card needs {about:,}")
            return {name: file.get_tensor(name) for name in sizes}
    except (SafetensorError, OSError) as problem:
        raise CheckpointError(f"{path}: not a readable safetensors file: {problem}") from None


def put(weights: dict[str, Tensor], model: nn.Module, path: Path) -> None:
    """Copy each tensor to the parameter of that name. None may be left over on either side."""
    wanted = dict(model.named_parameters())
    for names, what in (
        (wanted.keys() - weights.keys(), "is missing"),
        (weights.keys() - wanted.keys(), "is not known"),
    ):
        if names:
            raise CheckpointError(f"{path}: tensor '{min(names)}' {what}")
    for name, parameter in wanted.items():
        if weights[name].shape != parameter.shape:
            found, needed = tuple(weights[name].shape), tuple(parameter.shape)
            raise CheckpointError(f"{path}: tensor '{name}' is {found}, but the shape on its card needs {needed}")
        parameter.data.copy_(weights[name])


def _parameters(card: Card) -> int:
    classes = max(len(card.labels), 1)
    return total(bill(card.shape, card.task, classes=classes, source_vocabulary=card.source_vocabulary))

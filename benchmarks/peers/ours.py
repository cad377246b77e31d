"""Headstart's own jobs, made of the parts that its commands use."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.peers import Job
from benchmarks.texts import CONTEXT, Texts
from headstart.checkpoint import Card, save
from headstart.data.labelled import LabelledTexts
from headstart.generate.choose import Sampling
from headstart.generate.search import WORTH, generate, prepare
from headstart.model.init import initialise
from headstart.model.models import Classifier, LanguageModel
from headstart.model.shape import Shape
from headstart.recipes.predict import frame, predict_stream
from headstart.recipes.settings import read_settings
from headstart.text.records import Row
from headstart.train.course import Course
from headstart.train.device import join_workers
from headstart.train.loop import Step, fit
from headstart.train.memory import keep_freed_memory
from headstart.train.objectives import ClassOfText, NextToken
from headstart.train.optimiser import adamw
from headstart.train.sampled_loss import Sampler
from headstart.train.settings import Training


def shape_of(texts: Texts) -> Shape:
    return replace(read_settings("lab").model, vocabulary=texts.tokenizer.size, context=CONTEXT)


def language_model(texts: Texts) -> LanguageModel:
    torch.manual_seed(0)
    model = Card(task="lm", shape=shape_of(texts)).build()
    initialise(model)
    assert isinstance(model, LanguageModel)
    return model


def classifier(texts: Texts, seed: int = 0) -> tuple[Classifier, Card]:
    torch.manual_seed(seed)
    card = Card(task="classify", shape=shape_of(texts), labels=texts.labels)
    model = card.build()
    initialise(model)
    assert isinstance(model, Classifier)
    return model, card


def train_exact(texts: Texts) -> Job:
    return _training(NextToken(language_model(texts)), texts.windows(), texts.amounts.steps)


def train_sampled(texts: Texts) -> Job:
    return _training(NextToken(language_model(texts), sampler(texts)), texts.windows(), texts.amounts.steps)


def sampler(texts: Texts, negatives: int | None = None) -> Sampler:
    """As many negatives as a run draws that does not say."""
    drawn = negatives or Training(loss="sampled").drawn(texts.tokenizer.size)
    return Sampler.of(texts.store.train.ids, texts.tokenizer.size, drawn)


def finetune(texts: Texts) -> Job:
    model, _ = classifier(texts)
    batches = labelled(texts, texts.train)
    job = _training(ClassOfText(model), batches, batches.steps(0))
    return lambda share: job(share) and share * len(texts.train)


def labelled(texts: Texts, rows: Sequence[Row], **options: Any) -> LabelledTexts:
    return LabelledTexts(
        texts.tokenizer.encode_batch([row.text for row in rows]),
        [texts.labels.index(row.label) for row in rows],
        frame=frame(texts.tokenizer, causal=True),
        pad=texts.tokenizer.pad,
        context=CONTEXT,
        keep="both",
        **options,
    )


def predict(texts: Texts) -> Job:
    return _prediction(texts, int8=False)


def predict_int8(texts: Texts) -> Job:
    return _prediction(texts, int8=True)


def _prediction(texts: Texts, *, int8: bool) -> Job:
    """From raw text to labels; reading the run from disk is part of it."""
    folder = Path(tempfile.mkdtemp(dir=texts.folder)) / "run"
    model, card = classifier(texts)
    save(folder, model, card, texts.tokenizer)

    def job(share: float) -> float:
        rows = texts.test[: max(1, round(share * len(texts.test)))]
        return float(sum(1 for _ in predict_stream(folder, rows, int8=int8)))

    return job


def write_one(texts: Texts) -> Job:
    return _writing(texts, 1)


def write_many(texts: Texts) -> Job:
    return _writing(texts, 32)


def training_steps(
    objective: torch.nn.Module, source: Any, rate_at: Callable[[int], float] = lambda step: 1e-3, count: int = 10**9
) -> Iterator[Step]:
    """The product's loop over one source of batches."""
    keep_freed_memory()
    optimiser = adamw(objective.model, weight_decay=0.01, betas=(0.9, 0.98))  # type: ignore[arg-type]
    return fit(objective, Course(source), optimiser, rate_at, steps=range(count), workers=join_workers("cpu"))


def _training(objective: torch.nn.Module, source: Any, usual: int) -> Job:
    steps = training_steps(objective, source)

    def job(share: float) -> float:
        return float(sum(next(steps).tokens for _ in range(max(1, round(share * usual)))))

    return job


def _writing(texts: Texts, count: int) -> Job:
    model = language_model(texts).eval()
    torch.nn.init.normal_(model.head.weight, std=0.02)
    prompts = texts.prompts(count)
    chooser = Sampling(temperature=0).chooser(sorted(texts.tokenizer.specials))  # nothing ends early
    choice = prepare(model.head, chooser, WORTH)  # once for all repeats, as a program does that writes again and again

    def job(share: float) -> float:
        tokens = max(2, round(share * texts.amounts.written))
        found = generate(model, prompts, tokens=tokens, chooser=chooser, seeds=[0] * count, choice=choice)
        return float(sum(1 for _ in found))

    return job

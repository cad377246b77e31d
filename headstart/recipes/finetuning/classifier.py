"""The body that was pretrained, a fresh head on it, and how fast each part of them learns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from headstart.checkpoint import Card, Saved, load
from headstart.errors import CheckpointError, ConfigError
from headstart.model.init import initialise
from headstart.model.models import Classifier, Pooling
from headstart.recipes.settings import Settings
from headstart.text.tokenizer import Tokenizer
from headstart.train.optimiser import layer_scales
from headstart.train.settings import FineTuning
from headstart.train.transfer import Ledger, all_fresh, carry_body
from headstart.whole import MANIFEST, sha256


def build_classifier(
    start: Path | None, settings: Settings, tokenizer: Tokenizer, labels: tuple[str, ...], causal: bool
) -> tuple[Classifier, Ledger, Card]:
    options = settings.finetune
    saved: Saved | None = None
    shape = replace(settings.model, vocabulary=tokenizer.size)
    if start is not None:
        saved = load(start)
        shape, causal = saved.card.shape, saved.card.causal
        if saved.card.tokenizer and saved.card.tokenizer != tokenizer.hash:
            own = saved.folder / "tokenizer"
            raise CheckpointError(f"{start}: was trained with another tokenizer; use its own, {own}")
    shape = replace(shape, dropout=options.dropout, embedding_dropout=max(options.dropout, shape.embedding_dropout))
    pooling = pooling_of(options, causal)
    card = Card(task="classify", shape=shape, causal=causal, pooling=pooling, labels=labels, keep=options.keep)
    model = card.build()
    assert isinstance(model, Classifier)
    initialise(model)
    ledger = all_fresh(model) if saved is None else carry_body(saved, model)
    parent = "" if saved is None else sha256(saved.folder / MANIFEST)
    return model, ledger, replace(card, parent=parent, corpus=saved.card.corpus if saved else "")


def suited(options: FineTuning, causal: bool) -> FineTuning:
    """For bodies side by side: `first` is `<cls>`, which a causal one has not, so that one is read as usual."""
    return replace(options, pooling="auto") if causal and options.pooling == "first" else options


def pooling_of(options: FineTuning, causal: bool) -> Pooling:
    """Where a text is read: at its last token by a causal body, else at all of them or at `<cls>`."""
    if options.pooling == "auto":
        return "last" if causal else "mean"
    if causal and options.pooling == "first":
        raise ConfigError(
            "finetune.pooling is 'first', but the first token of a causal body has seen nothing of the text; "
            "type --pooling last or --pooling mean"
        )
    return options.pooling


def speeds(model: Classifier, options: FineTuning, ends: dict[int, int]) -> dict[str, Any]:
    """How fast each part learns, and from which step on: a frozen body never, a thawing one layer by layer."""
    depth = model.body.shape.depth
    if options.freeze == "body":
        return {"scales": {"body.": 0.0}}
    scales = layer_scales(depth, options.layer_decay) if options.layer_decay < 1.0 else {}
    if options.freeze == "none":
        return {"scales": scales}
    epoch_starts = [0, *sorted(ends)]
    thaw = [epoch_starts[min(depth - i, len(epoch_starts) - 1)] for i in range(depth)]  # one more layer an epoch
    starts = {f"body.blocks.{i}.": thaw[i] for i in range(depth)}
    return {"scales": scales, "starts": {"body.": thaw[0], "body.final_norm": 0, **starts}}

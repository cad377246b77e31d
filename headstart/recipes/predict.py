"""Texts in, labels with calibrated probabilities out, in the order in which they came."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from headstart.checkpoint import Saved, load
from headstart.data.buckets import Bucketing
from headstart.data.framing import Frame, Keep
from headstart.data.labelled import LabelledTexts
from headstart.errors import CheckpointError
from headstart.evaluate.baseline import plain_text
from headstart.evaluate.baseline_file import read_baseline
from headstart.evaluate.calibration import softmax
from headstart.model.models import Classifier
from headstart.recipes.int8 import to_int8
from headstart.recipes.second_texts import check_seconds
from headstart.text.records import Row
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import choose_device

BASELINE = "baseline"  # the folder in a saved model that holds a classic baseline, where its card names one
BLOCK = 2_048  # texts sorted by length together
EVALUATION = Bucketing(rows=64, budget=4_096)


@dataclass(frozen=True)
class Prediction:
    """`scores` are the calibrated probabilities in the order of the labels; `label` is "" where it abstains."""

    label: str
    probability: float
    scores: tuple[float, ...]


def predict_rows(run: Path, rows: Sequence[Row], device: str = "auto", *, int8: bool = False) -> list[Prediction]:
    return [prediction for _, prediction in predict_stream(run, rows, int8=int8, device=device)]


def predict_stream(
    run: Path, rows: Iterable[Row], *, abstain_below: float = 0.0, int8: bool = False, device: str = "auto"
) -> Iterator[tuple[Row, Prediction]]:
    """Each row with its prediction, block by block, so that a pipe of any length runs in flat memory."""
    saved = load_classifier(run, "cpu" if int8 else device)
    tokenizer, model = saved.tokenizer, saved.model
    assert isinstance(model, Classifier)
    if int8:
        to_int8(model)
    beside = read_baseline(saved.folder / BASELINE) if saved.card.baseline else None
    source, learnt = iter(rows), saved.card.text_b
    while block := list(islice(source, BLOCK)):
        check_seconds(rows if isinstance(rows, Sequence) else block, learnt)
        learnt = "some"  # what began as it should is read to its end
        texts = lay_out(block, tokenizer, saved.card.causal, saved.card.shape.context, saved.card.keep)
        all_shares = softmax(logits_of(model, texts), saved.card.temperature)  # (N, C)
        if beside is not None:
            all_shares = (all_shares + beside.probabilities([plain_text(row) for row in block])) / 2
        for row, shares in zip(block, all_shares):
            best = int(shares.argmax())
            label = saved.card.labels[best] if shares[best] >= abstain_below else ""
            yield row, Prediction(label, float(shares[best]), tuple(map(float, shares)))


def load_classifier(run: Path, device: str = "cpu") -> Saved:
    saved = load(run, choose_device(device))
    if saved.card.task == "translate":
        raise CheckpointError(
            f"{run}: holds a translator, which gives no labels. Use it: headstart translate {run} FILE"
        )
    if saved.card.task != "classify":
        raise CheckpointError(
            f"{run}: holds a {saved.card.task} model without a class head. "
            f"Give it one: headstart finetune TRAIN --from {run} --out runs/clf"
        )
    return saved


def lay_out(rows: Sequence[Row], tokenizer: Tokenizer, causal: bool, context: int, keep: Keep) -> LabelledTexts:
    """Unlabelled texts in batches for evaluation."""
    ids, second = encode(rows, tokenizer)
    return LabelledTexts(
        ids,
        frame=frame(tokenizer, causal),
        pad=tokenizer.pad,
        context=context,
        second=second,
        keep=keep,
        bucketing=EVALUATION,
        shuffle=False,
    )


def encode(rows: Sequence[Row], tokenizer: Tokenizer) -> tuple[list[list[int]], list[list[int]]]:
    """The ids of the texts, and of the second texts where there are any."""
    second = tokenizer.encode_batch([row.text_b for row in rows]) if any(row.text_b for row in rows) else []
    return tokenizer.encode_documents(rows), second


def frame(tokenizer: Tokenizer, causal: bool) -> Frame:
    return Frame.causal(tokenizer) if causal else Frame.bidirectional(tokenizer)


@torch.inference_mode()
def logits_of(model: Classifier, texts: LabelledTexts) -> np.ndarray:
    """The scores of every text, in the order of the rows. (N, C)"""
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    found = np.zeros((len(texts.labels), model.head.scores.out_features), np.float32)
    for position in range(texts.steps(0)):
        batch = texts.batch(0, position).to(device)
        found[batch.rows.cpu().numpy()] = model(batch.ids, batch.lengths, batch.segments).float().cpu().numpy()
    model.train(was_training)
    return found

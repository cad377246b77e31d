"""The end of a fine-tuning: the best model is calibrated, and gets a baseline beside it where one is wanted."""

from dataclasses import replace
from pathlib import Path

from headstart.checkpoint import load, save
from headstart.data.labelled import LabelledTexts
from headstart.evaluate.baseline import Fitted
from headstart.evaluate.baseline_file import write_baseline
from headstart.evaluate.calibration import fit_temperature, softmax
from headstart.evaluate.scores import score
from headstart.model.models import Classifier
from headstart.recipes.predict import BASELINE, logits_of
from headstart.text.tokenizer import Tokenizer

TOGETHER = "accuracy_with_baseline"


def finish(best: Path, held: LabelledTexts, tokenizer: Tokenizer, beside: Fitted | None) -> None:
    """Choose the temperature on validation; save it with the best model, and the baseline where one is wanted."""
    saved = load(best)
    assert isinstance(saved.model, Classifier)
    logits = logits_of(saved.model, held)
    card = replace(saved.card, temperature=fit_temperature(held.labels, logits), baseline=beside is not None)
    if beside is None:
        save(best, saved.model, card, tokenizer)
        return
    both = (softmax(logits, card.temperature) + beside.valid) / 2
    scores = {**card.scores, TOGETHER: score(held.labels, both).accuracy}
    card = replace(card, scores=scores)
    save(best, saved.model, card, tokenizer, also=lambda folder: write_baseline(beside, folder / BASELINE))

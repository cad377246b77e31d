"""A classifier with the classic baseline beside it answers with the mean of both, wherever it is used."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from recipes.test_self_train import SMALL, made
from train.small_corpus import small_settings

from headstart.evaluate.baseline_file import read_baseline
from headstart.recipes.classify import finetune_files
from headstart.recipes.evaluate import evaluate_file
from headstart.recipes.predict import BASELINE, load_classifier, predict_rows
from headstart.text.readers import read_labelled
from headstart.text.records import Reading


def test_predictions_are_the_mean_of_both(tmp_path: Path) -> None:
    train, test, _ = made(tmp_path)
    how = {"start": None, "settings": small_settings(*SMALL, "finetune.epochs=2")}
    plain = finetune_files(train, "", tmp_path / "plain", **how)  # type: ignore[arg-type]
    how["settings"] = small_settings(*SMALL, "finetune.epochs=2", "finetune.baseline=true")
    both = finetune_files(train, "", tmp_path / "both", **how)  # type: ignore[arg-type]
    assert plain.with_baseline is None
    assert both.with_baseline == 1.0  # one word tells the classes of train apart
    rows = [replace(row, label="") for row in read_labelled(test, Reading())]
    alone = np.array([found.scores for found in predict_rows(tmp_path / "plain", rows)])
    beside = read_baseline(tmp_path / "both" / "best" / BASELINE).probabilities([row.text for row in rows])
    together = np.array([found.scores for found in predict_rows(tmp_path / "both", rows)])
    np.testing.assert_allclose(together, (alone + beside) / 2, atol=1e-6)
    assert not load_classifier(tmp_path / "plain").card.baseline
    assert evaluate_file(tmp_path / "both", test, Reading()).scores.texts == len(rows)


def test_among_the_guesses_it_has_one_vote(tmp_path: Path) -> None:
    train, _, more = made(tmp_path)
    settings = small_settings(*SMALL, "finetune.epochs=2", "finetune.baseline=true")
    finetune_files(train, "", tmp_path / "clf", start=None, settings=settings, unlabelled=[more])
    assert load_classifier(tmp_path / "clf").card.baseline
    assert not load_classifier(tmp_path / "clf" / "teacher").card.baseline

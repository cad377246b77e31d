"""Scores against scikit-learn, and calibration that means what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

from headstart.evaluate.calibration import abstention, fit_temperature, retemper, softmax
from headstart.evaluate.scores import confusion, reliability, score


def some_predictions(seed: int, texts: int = 300, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, texts)
    logits = random.normal(size=(texts, classes)) * 2
    logits[np.arange(texts), labels] += 1.5
    return labels, softmax(logits)


@pytest.mark.parametrize("classes", [2, 4, 9])
def test_scores_are_those_of_scikit_learn(classes: int) -> None:
    labels, probabilities = some_predictions(classes, classes=classes)
    found, predicted = score(labels, probabilities), probabilities.argmax(1)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(labels, predicted))
    assert found.macro_f1 == pytest.approx(metrics.f1_score(labels, predicted, average="macro"))
    assert found.log_loss == pytest.approx(metrics.log_loss(labels, probabilities))
    assert (np.array(found.confusion) == metrics.confusion_matrix(labels, predicted)).all()


def test_macro_f1_leaves_out_classes_that_never_occur_as_scikit_learn_does() -> None:
    labels, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    probabilities = np.eye(5)[predicted]
    expected = metrics.f1_score(labels, predicted, average="macro")
    assert score(labels, probabilities).macro_f1 == pytest.approx(expected)


def test_a_class_never_predicted_counts_nought() -> None:
    labels, predicted = np.array([0, 0, 1]), np.array([0, 0, 0])
    assert score(labels, np.eye(2)[predicted]).macro_f1 == pytest.approx((0.8 + 0) / 2)


def test_the_true_class_stands_down_and_the_predicted_one_across() -> None:
    assert confusion(np.array([0, 0, 1]), np.array([1, 1, 1]), 2).tolist() == [[0, 2], [0, 1]]


def test_reliability_is_that_of_scikit_learn() -> None:
    labels, probabilities = some_predictions(5, texts=2000)
    right, confidence = probabilities.argmax(1) == labels, probabilities.max(1)
    accuracies, confidences = calibration_curve(right, confidence, n_bins=10)
    bins = reliability(labels, probabilities)
    assert [each.accuracy for each in bins] == pytest.approx(list(accuracies))
    assert [each.confidence for each in bins] == pytest.approx(list(confidences))
    assert sum(each.texts for each in bins) == 2000


def test_calibration_error_is_nought_for_probabilities_that_are_true() -> None:
    labels = np.array([0] * 7 + [1] * 3)
    assert score(labels, np.tile([0.7, 0.3], (10, 1))).calibration_error == pytest.approx(0)
    assert score(labels, np.tile([1.0, 0.0], (10, 1))).calibration_error == pytest.approx(0.3)


@given(st.integers(0, 10_000), st.floats(0.2, 5.0))
def test_a_temperature_that_was_put_in_is_found_again(seed: int, temperature: float) -> None:
    random = np.random.default_rng(seed)
    logits = random.normal(size=(4000, 3)) * 2
    labels = np.array([random.choice(3, p=row) for row in softmax(logits[:400])])
    found = fit_temperature(labels, logits[:400])
    again = fit_temperature(labels, logits[:400] * temperature)
    assert again == pytest.approx(min(20.0, max(0.05, found * temperature)), rel=1e-6)
    assert found == pytest.approx(1.0, abs=0.45)


def test_no_other_temperature_has_a_lower_loss() -> None:
    labels, probabilities = some_predictions(3)
    logits = np.log(probabilities) * 3
    best = fit_temperature(labels, logits)
    losses = [metrics.log_loss(labels, softmax(logits, t)) for t in (best * 0.97, best, best * 1.03)]
    assert min(losses) == losses[1]


def test_temperature_stays_finite_without_a_single_mistake() -> None:
    labels = np.array([0, 1, 0])
    assert fit_temperature(labels, np.eye(2)[labels] * 3) == pytest.approx(0.05)
    assert fit_temperature(labels, np.zeros((3, 2))) > 0


def test_a_temperature_changes_no_prediction() -> None:
    _, probabilities = some_predictions(1)
    assert (retemper(probabilities, 3.0).argmax(1) == probabilities.argmax(1)).all()
    assert retemper(probabilities, 1.0) == pytest.approx(probabilities)


def test_abstaining_keeps_the_most_confident_texts() -> None:
    labels = np.array([0, 0, 0, 0])
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.45, 0.55]])
    whole, half = abstention(labels, probabilities, (1.0, 0.5))
    assert (whole.coverage, whole.accuracy, whole.below) == (1.0, 0.5, 0.55)
    assert (half.coverage, half.accuracy, half.below) == (0.5, 1.0, 0.8)


def test_texts_of_equal_confidence_are_answered_together() -> None:
    probabilities = np.tile([0.6, 0.4], (10, 1))
    (point,) = abstention(np.zeros(10, dtype=int), probabilities, (0.3,))
    assert point.coverage == 1.0

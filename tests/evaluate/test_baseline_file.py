"""A saved baseline answers as it did, bit for bit, and a damaged one is refused."""

from pathlib import Path

import numpy as np
import pytest
from evaluate.test_baseline import CHARACTERS, WORDS, reviews

from headstart.errors import CheckpointError
from headstart.evaluate.baseline import Classic, fit_classic
from headstart.evaluate.baseline_file import NUMBERS, PIECES, read_baseline, write_baseline

STRANGE = ["bon livre", "", "inconnu 😀 ▁", "nul"]


@pytest.mark.parametrize("kind", [WORDS, CHARACTERS])
@pytest.mark.parametrize("classes", [2, 4])
def test_it_answers_as_before(kind: Classic, classes: int, tmp_path: Path) -> None:
    texts, labels = reviews(60)
    labels = labels + 2 * (np.arange(60) % 3 == 0) if classes > 2 else labels
    fitted = fit_classic(kind, texts, labels, texts, labels, classes)
    write_baseline(fitted, tmp_path / "baseline")
    again = read_baseline(tmp_path / "baseline")
    assert (again.probabilities(STRANGE) == fitted.probabilities(STRANGE)).all()
    assert (again.strength, again.temperature) == (fitted.strength, fitted.temperature)


def test_a_damaged_one_is_refused(tmp_path: Path) -> None:
    write_baseline(fit_classic(WORDS, *reviews(60), *reviews(20, 1), classes=2), tmp_path / "baseline")
    whole = (tmp_path / "baseline" / PIECES).read_text()
    for damaged in ("{", "[]", whole.replace('"words"', '"others"'), whole.replace('"bon"', '"mauvais"')):
        (tmp_path / "baseline" / PIECES).write_text(damaged)
        with pytest.raises(CheckpointError):
            read_baseline(tmp_path / "baseline")
    (tmp_path / "baseline" / PIECES).write_text(whole)
    (tmp_path / "baseline" / NUMBERS).write_bytes(b"nothing")
    with pytest.raises(CheckpointError):
        read_baseline(tmp_path / "baseline")

"""Several classifiers of one recipe beside the classic baseline on a test set, with its leaked rows and without.

Try: python -m benchmarks.quality --train TRAIN --valid VALID --test TEST runs/seed-0 runs/seed-1 runs/seed-2

`headstart compare` does this for the models that it trains; here they come from anywhere. Each call opens the test.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from headstart.evaluate.baseline import fit_strongest, plain_text
from headstart.evaluate.significance import accuracy_interval, paired
from headstart.recipes.comparing.leaks import find_leaks
from headstart.recipes.predict import load_classifier, predict_rows
from headstart.text.readers import read_labelled
from headstart.text.records import Reading, Row


def right_answers(runs: list[Path], rows: list[Row]) -> np.ndarray:
    """(S, N): whether each run is right about each row."""
    blind = [replace(row, label="") for row in rows]
    said = [[prediction.label for prediction in predict_rows(run, blind)] for run in runs]
    return np.array([[label == row.label for label, row in zip(labels, rows)] for labels in said])


def right_baseline(train: list[Row], valid: list[Row], rows: list[Row], labels: tuple[str, ...]) -> np.ndarray:
    """(1, N): the same of TF-IDF words + characters, its strength chosen on validation."""
    said = fit_strongest(train, valid, labels).probabilities([plain_text(row) for row in rows]).argmax(1)
    return np.array([[labels[number] == row.label for number, row in zip(said, rows)]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="classifiers, one for each seed")
    for part in ("train", "valid", "test"):
        parser.add_argument(f"--{part}", required=True, help="labelled rows")
    asked = parser.parse_args()
    train, valid, test = (read_labelled(spec, Reading()) for spec in (asked.train, asked.valid, asked.test))
    leaks = find_leaks(train, valid, [replace(row, label="") for row in test], None, "")
    ours = right_answers(asked.runs, test)
    classic = right_baseline(train, valid, test, load_classifier(asked.runs[0]).card.labels)
    clean = np.array([row not in leaks.rows for row in range(len(test))])
    print("seeds:", " ".join(f"{share:.4f}" for share in ours.mean(1)))
    for title, kept in (("all", np.ones_like(clean)), (f"without {int((~clean).sum())} leaked rows", clean)):
        model, base = accuracy_interval(ours[:, kept]), accuracy_interval(classic[:, kept])
        found = paired(ours[:, kept], classic[:, kept])
        gap = found.difference
        print(
            f"{title}: ours {model.value:.4f} [{model.low:.4f}, {model.high:.4f}], "
            f"TF-IDF {base.value:.4f} [{base.low:.4f}, {base.high:.4f}], "
            f"difference {gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}], p {found.p:.4f}"
        )


if __name__ == "__main__":
    main()

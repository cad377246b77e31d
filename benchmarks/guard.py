"""How the leak guard's time grows with the rows: `python -m benchmarks.guard`.

Exact and near duplicates within and between two halves of the rows, at one, two and four times as many. The rows are
IMDB reviews where they lie beside the project, otherwise made up; reading the file is not part of the time.
"""

import random
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from headstart.text.guard import scan
from headstart.text.guard.findings import counts, find
from headstart.text.readers import read_rows
from headstart.text.records import Document

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb"
ROWS = 12_500
TIMES = (1, 2, 4)


def main() -> None:
    train, test = (rows(name, ROWS * TIMES[-1] // 2) for name in ("train", "test"))
    words = sum(len(row.text.split()) for row in train) / len(train)
    print(f"{'IMDB reviews' if REAL.is_dir() else 'made-up reviews'} of {words:.0f} words on average, one core")
    print(f"{'rows':>8} {'seconds':>8} {'of the processor':>17} {'rows/s':>8} {'ratio':>6}   twins in the other half")
    first = 0.0
    for size in (ROWS * times // 2 for times in TIMES):
        wall, busy, found = measure(train[:size], test[:size])
        first = first or busy
        print(f"{2 * size:8,} {wall:8.2f} {busy:17.2f} {2 * size / busy:8,.0f} {busy / first:6.2f}   {found}")
    boilerplate()


def measure(train: Sequence[Document], test: Sequence[Document]) -> tuple[float, float, dict[str, int]]:
    wall, busy = time.perf_counter(), time.process_time()
    findings = find([scan("train", train), scan("test", test)])
    elapsed = time.perf_counter() - wall, time.process_time() - busy
    return *elapsed, counts(findings.parts["test"], findings.overlaps["train", "test"])


def boilerplate() -> None:
    """Ten thousand rows that are all near each other: a pile that a careless index compares pair by pair."""
    page = made_up(random.Random(0)).text
    for size in (5_000, 10_000, 20_000):
        pile = [Document(f"{page} Visitor {number}", "pile", number) for number in range(size)]
        _, busy, _ = measure(pile, pile[:1])
        print(f"{size:8,} near copies of one page: {busy:.2f} s of the processor, {size / busy:,.0f} rows/s")


def rows(name: str, count: int) -> list[Document]:
    if REAL.is_dir():
        return list(islice(read_rows(REAL / f"{name}.tsv.xz"), count))
    chance = random.Random(name)
    return [made_up(chance) for _ in range(count)]


def made_up(chance: random.Random) -> Document:
    letters = "eeeaaioutnrsldcmphg"
    words = ("".join(chance.choices(letters, k=chance.randint(1, 9))) for _ in range(chance.randint(60, 400)))
    return Document(" ".join(words), "made up", 1)


if __name__ == "__main__":
    main()

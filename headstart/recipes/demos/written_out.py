"""Numbers and dates written out in English and in French: pairs without end, and every answer can be checked."""

import datetime
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from headstart.errors import DataError

NUMBERS = 1_000_000  # from 0 on
FIRST_DAY, LAST_DAY = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
TEST, VALID, TRAIN = 1_000, 250, 30_000  # of each kind
SMALL = 2_000  # all numbers below it are learnt from, unless they are held out: people try these first


@dataclass(frozen=True)
class WrittenOut:
    """Tables of pairs that were written; the values of `valid` and `test` stand in no other."""

    train: Path
    valid: Path
    test: Path
    pairs: dict[str, int]


def write_values(folder: Path) -> WrittenOut:
    """Values in the order of their hash: the first are held out for the test, the next for validation."""
    folder.mkdir(parents=True, exist_ok=True)
    days = (LAST_DAY - FIRST_DAY).days + 1
    parts: dict[str, list[tuple[str, str]]] = {"test": [], "valid": [], "train": []}
    for kind, count in (("number", NUMBERS), ("date", days)):
        order = by_hash(count, kind)
        ends = {"test": (0, TEST), "valid": (TEST, TEST + VALID), "train": (TEST + VALID, TEST + VALID + TRAIN)}
        for name, (start, end) in ends.items():
            values = order[start:end]
            if kind == "number" and name == "train":
                values = [*values, *sorted(set(range(SMALL)) - set(order[:end]))]
            parts[name] += [(english(kind, value), french(kind, value)) for value in values]
    for name, pairs in parts.items():
        lines = "".join(f"{one}\t{other}\n" for one, other in pairs)
        (folder / f"{name}.tsv").write_text("source\ttarget\n" + lines, "utf-8")
    counts = {name: len(pairs) for name, pairs in parts.items()}
    return WrittenOut(folder / "train.tsv", folder / "valid.tsv", folder / "test.tsv", counts)


def english(kind: str, value: int) -> str:
    """1999-12-31 is Friday, December thirty-first, nineteen ninety-nine."""
    if kind == "number":
        return number(value, "en")
    day = FIRST_DAY + datetime.timedelta(value)
    return f"{_name(day, 'EEEE, MMMM', 'en')} {_words(day.day, 'en', 'ordinal')}, {_words(day.year, 'en', 'year')}"


def french(kind: str, value: int) -> str:
    """1999-12-31 is vendredi trente et un décembre mille neuf cent quatre-vingt-dix-neuf."""
    if kind == "number":
        return number(value, "fr")
    day = FIRST_DAY + datetime.timedelta(value)
    first = "premier" if day.day == 1 else _words(day.day, "fr", "cardinal")
    return f"{_name(day, 'EEEE', 'fr')} {first} {_name(day, 'MMMM', 'fr')} {_words(day.year, 'fr', 'cardinal')}"


def number(value: int, language: str) -> str:
    """What num2words gives, from the thousands and the rest: some thousand calls of it instead of a million."""
    thousands, rest = divmod(value, 1_000)
    if not thousands or not rest:
        return _words(value, language, "cardinal")
    joint = {"en": " and " if rest < 100 else ", ", "fr": " "}[language]
    return _words(1_000 * thousands, language, "cardinal") + joint + _words(rest, language, "cardinal")


@lru_cache(maxsize=100_000)
def _words(value: int, language: str, to: str) -> str:
    return str(_libraries()[0](value, lang=language, to=to))


def _name(day: datetime.date, pattern: str, language: str) -> str:
    return _names(day.weekday(), day.month, pattern, language)


@lru_cache(maxsize=1_000)
def _names(weekday: int, month: int, pattern: str, language: str) -> str:
    """The name of a day and a month depends on these two only, so that few are looked up."""
    days = (datetime.date(2000, month, 1) + datetime.timedelta(number) for number in range(7))
    return str(_libraries()[1](next(day for day in days if day.weekday() == weekday), pattern, locale=language))


@lru_cache(maxsize=1)
def _libraries() -> tuple[Any, Any]:
    try:
        from babel.dates import format_date
        from num2words import num2words
    except ModuleNotFoundError:
        raise DataError("the demo's words are not installed; type: pip install 'headstart[demo]'") from None
    return num2words, format_date


def by_hash(count: int, kind: str) -> list[int]:
    """The values below `count` in the order of their hash (splitmix64), another order for each kind."""
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(zlib.crc32(kind.encode()))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    order: list[int] = np.argsort(x ^ (x >> np.uint64(31)), kind="stable").tolist()
    return order


def examples() -> Iterator[str]:
    """A few sources to show."""
    yield english("number", 999_999)
    yield english("date", (datetime.date(1969, 7, 20) - FIRST_DAY).days)
    yield english("date", (datetime.date(2024, 2, 29) - FIRST_DAY).days)

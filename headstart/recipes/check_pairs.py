"""Check pairs before any training: what stands twice, on either side or on both, and which pairs are odd."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from headstart.errors import DataError
from headstart.recipes.check_data import DataReport, check_data
from headstart.text.guard.inputs import Input
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.pairs import read_pairs, unheaded
from headstart.text.reading.parallel import split_spec
from headstart.text.reading.sources import source_at
from headstart.text.records import Document, Pair, Reading, Row

Side = Literal["source", "target", "pair"]
SIDES: tuple[Side, ...] = ("source", "target", "pair")
UNEVEN = 4.0  # times as many characters on one side


@dataclass(frozen=True, kw_only=True)
class PairReport:
    """Everything `headstart check data --pairs` shows: the odd pairs of each part, and the twins of each side."""

    parts: dict[str, dict[str, int]]
    sides: dict[str, DataReport]
    warnings: list[str]
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        sides = {side: report.to_json() for side, report in self.sides.items()}
        for report in sides.values():
            report.pop("warnings", None)  # of labelled rows; those on pairs stand beside
        return {"parts": self.parts, "sides": sides, "warnings": self.warnings, "notes": self.notes}


def check_pairs(specs: dict[str, str], reading: Reading, *, advance: Callable[[int], None] = ignore) -> PairReport:
    """`specs` name the pairs of train, valid and test, as far as they are given; each is read once for each side."""
    given = {name: spec for name, spec in specs.items() if spec}
    if not given:
        raise DataError("nothing to check; give at least one of --train, --valid and --test")
    inputs = {side: [_input(name, spec, reading, side) for name, spec in given.items()] for side in SIDES}
    odd = {name: count_odd(read_pairs(spec, reading)) for name, spec in given.items()}
    sides: dict[str, DataReport] = {
        side: check_data(parts, advance=advance if side == "pair" else ignore) for side, parts in inputs.items()
    }
    notes = [note for note in (unheaded(spec, reading) for spec in given.values()) if note]
    return PairReport(parts=odd, sides=sides, warnings=[*_overlaps(sides, odd), *_oddities(odd)], notes=notes)


def count_odd(pairs: Iterator[Pair]) -> dict[str, int]:
    counts = {"pairs": 0, "empty": 0, "uneven": 0, "copied": 0}
    for pair in pairs:
        one, other = pair.source_text.strip(), pair.target_text.strip()
        shorter, longer = sorted((len(one), len(other)))
        counts["pairs"] += 1
        counts["empty"] += not shorter
        counts["uneven"] += shorter > 0 and longer > UNEVEN * shorter
        counts["copied"] += shorter > 0 and one == other
    return counts


def _input(name: str, spec: str, reading: Reading, side: Side) -> Input:
    halves = split_spec(spec)
    if "-" in halves:
        raise DataError(f"--{name} {spec}: this is read several times, which a pipe can't be; save it to a file")

    def read(advance: Advance) -> Iterator[Document]:
        for pair in read_pairs(spec, reading, advance=advance):
            if side == "pair":
                yield Row(pair.source_text, pair.source, pair.line, text_b=pair.target_text)
            else:
                yield Document(getattr(pair, f"{side}_text"), pair.source, pair.line)

    return Input(name=name, sources=tuple(source_at(Path(half)) for half in halves), read=read, reading=reading)


def _overlaps(sides: dict[str, DataReport], odd: dict[str, dict[str, int]]) -> Iterator[str]:
    """The gravest first: what of the test was learnt."""
    plural = {"source": "sources", "target": "translations", "pair": "pairs"}
    names = sorted(sides["source"].overlaps, key=lambda name: not name.endswith("test"))
    for name in names:
        first, second = name.split("-")
        for side in SIDES:
            counts = sides[side].overlaps[name]
            whole = f"{odd[second]['pairs']:,} {second} {plural[side]}"
            both = " on both sides" if side == "pair" else ""
            if counts["exact"]:
                yield f"{counts['exact']:,} of {whole} also stand in {first}{both}"
            if counts["near"]:
                yield f"{counts['near']:,} of {whole} have a near-duplicate in {first}{both}"
    for name, counts in sides["pair"].within.items():
        if counts["exact"]:
            yield f"{counts['exact']:,} of {odd[name]['pairs']:,} {name} pairs repeat an earlier one"


def _oddities(odd: dict[str, dict[str, int]]) -> Iterator[str]:
    words: Sequence[tuple[str, str]] = (
        ("empty", "have an empty side"),
        ("uneven", f"have a side with more than {UNEVEN:g} times as many characters as the other"),
        ("copied", "have the same text on both sides"),
    )
    for name, counts in odd.items():
        for kind, what in words:
            if counts[kind]:
                yield f"{counts[kind]:,} of {counts['pairs']:,} {name} pairs {what}"

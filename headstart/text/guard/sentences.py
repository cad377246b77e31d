"""What the guard found, in sentences that a person acts on."""

import math
from collections.abc import Iterator

import numpy as np

from headstart.text.guard.facts import label_counts
from headstart.text.guard.findings import Findings
from headstart.text.guard.parts import Part

LOPSIDED = 0.9
MANY_UNKNOWN = 0.01
_SO = {
    ("corpus", "test"): "the model will have read them before it is tested; scores will be given with and without them",
    ("corpus", "valid"): "the model will have read them before any choice is made on valid",
    ("train", "test"): "scores will be given with and without them",
    ("train", "valid"): "scores on valid will look better than they are",
    ("valid", "test"): "what is chosen on valid suits them; scores will be given with and without them",
}


def sentences(findings: Findings) -> list[str]:
    """The gravest first; none if all is well."""
    return [
        *_overlap_sentences(findings),
        *_conflict_sentences(findings),
        *_label_sentences(findings),
        *_repeat_sentences(findings),
        *(line for part in findings.parts.values() for line in _part_sentences(part)),
    ]


def _overlap_sentences(findings: Findings) -> Iterator[str]:
    """Test first; that a corpus holds the training texts is how it should be, and not worth a warning."""
    for (first, second), found in sorted(findings.overlaps.items(), key=lambda pair: pair[0][1] != "test"):
        a, b = findings.parts[first], findings.parts[second]
        if second == "train":
            continue
        exact, near = np.flatnonzero(found.exact >= 0), np.flatnonzero(found.near >= 0)
        home = "the pretraining corpus" if first == "corpus" else first
        if len(exact):
            where = _first(a, b, exact, found.exact, "=")
            yield f"{_of(len(exact), b)} also {_verb(len(exact), 'stand')} in {home}, {where}; {_SO[first, second]}"
        if len(near):
            more, where = " more" if len(exact) else "", _first(a, b, near, found.near, "≈")
            yield f"{_of(len(near), b, more)} {_verb(len(near), 'have')} a near-duplicate in {home}, {where}"


def _conflict_sentences(findings: Findings) -> Iterator[str]:
    found = findings.conflicts
    if not found.texts:
        return
    (one, a), (other, b) = found.pairs[0]
    rows = sum(map(len, found.rows.values()))
    left, right = findings.parts[one], findings.parts[other]
    yield (
        f"{found.texts:,} text{'s' * (found.texts != 1)} in {rows:,} rows {_verb(found.texts, 'carry')} different"
        f" labels, first {left.label(a)!r} at {_place(left, a)} and {right.label(b)!r} at {_place(right, b)}"
    )


def _label_sentences(findings: Findings) -> Iterator[str]:
    known = label_counts(findings.parts["train"]) if "train" in findings.parts else {}
    for part in findings.parts.values():
        labels = label_counts(part)
        strange = sorted(set(labels) - set(known))
        if known and strange:
            named = ", ".join(repr(name) for name in strange[:5])
            yield f"{part.name} has labels that train never has, so no model can learn them: {named}"
        total, (most, name) = sum(labels.values()), max(((n, label) for label, n in labels.items()), default=(0, ""))
        if total and most == total:
            yield f"all {total:,} rows of {part.name} have the label {name!r}"
        elif total and most / total > LOPSIDED:
            share = f"{100 * most / total:.0f} %"
            yield f"{share} of the rows of {part.name} have the label {name!r}: accuracy alone will mislead"


def _repeat_sentences(findings: Findings) -> Iterator[str]:
    for name, found in findings.within.items():
        part, again = findings.parts[name], np.flatnonzero(found.exact >= 0)
        if len(again):
            where = _first(part, part, again, found.exact, "=")
            yield f"{_of(len(again), part)} {_verb(len(again), 'repeat')} an earlier one, {where}"


def _part_sentences(part: Part) -> Iterator[str]:
    empty = np.flatnonzero(part.empty)
    if len(empty):
        yield f"{_of(len(empty), part)} {_verb(len(empty), 'are')} empty, first at {_place(part, empty[0])}"
    total = int(part.tokens.sum())
    if total and part.unknown / total > MANY_UNKNOWN:
        yield f"{100 * part.unknown / total:.1f} % of the tokens of {part.name} are unknown to the tokenizer"


def _of(count: int, part: Part, more: str = "") -> str:
    share = math.floor(1000 * count / part.rows + 0.5) / 10
    return f"{count:,}{more} of {part.rows:,} {part.name} rows ({share or '< 0.1'} %)"


def _verb(count: int, plural: str) -> str:
    singular = {"have": "has", "are": "is", "carry": "carries"}
    return plural if count != 1 else singular.get(plural, plural + "s")


def _first(a: Part, b: Part, rows: np.ndarray, twin: np.ndarray, sign: str) -> str:
    return f"first at {_place(b, rows[0])} {sign} {_place(a, twin[rows[0]])}"


def _place(part: Part, row: int) -> str:
    file, line = part.place(row)
    return f"{file}:{line}"

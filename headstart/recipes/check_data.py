"""Check the data before any training: what stands twice, what leaks, what is empty, lopsided or labelled twice."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.errors import DataError, RunError
from headstart.folder import whole_folder
from headstart.recipes.labels import no_labels
from headstart.text.guard.cleaning import rows_to_drop
from headstart.text.guard.copying import copy_without
from headstart.text.guard.examples import examples
from headstart.text.guard.facts import facts
from headstart.text.guard.findings import Findings, conflict_counts, counts, find
from headstart.text.guard.inputs import Input, name_inputs
from headstart.text.guard.nearness import THRESHOLD
from headstart.text.guard.parts import scan
from headstart.text.guard.sentences import sentences
from headstart.text.reading.archives import ignore
from headstart.text.tokenizer import Tokenizer

__all__ = ["DataReport", "check_data", "name_inputs"]
CARD = "dropped.json"
Table = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class DataReport:
    """Everything `headstart check data` shows. `dropped` is empty unless cleaned files were written."""

    parts: dict[str, Table]
    overlaps: dict[str, dict[str, int]]
    within: dict[str, dict[str, int]]
    conflicts: Table
    warnings: list[str]
    notes: list[str]
    examples: Table
    dropped: Table

    def to_json(self) -> Table:
        return {name: value for name, value in vars(self).items() if name != "dropped" or value}


def check_data(
    inputs: Sequence[Input],
    *,
    tokenizer: Tokenizer | None = None,
    threshold: float = THRESHOLD,
    drop: Path | None = None,
    advance: Callable[[int], None] = ignore,
) -> DataReport:
    """Look at all that `name_inputs` names; `advance` is told the bytes read, of the sum of `Input.bytes`.

    With `drop`, cleaned copies go to that folder, one folder in it per part.
    """
    if drop is not None and drop.exists():
        raise RunError(f"{drop}: already there, and cleaned files are not written over anything; choose another --drop")
    parts = [scan(each.name, each.documents(advance), tokenizer) for each in inputs]
    findings = find(parts, threshold)
    known = {part.name: facts(part) for part in parts}
    odd = {name: no_labels(len(each.get("labels", ())), each["rows"]) for name, each in known.items()}
    return DataReport(
        parts=known,
        overlaps={
            "-".join(names): counts(findings.parts[names[1]], found) for names, found in findings.overlaps.items()
        },
        within={name: counts(findings.parts[name], found) for name, found in findings.within.items()},
        conflicts=conflict_counts(findings.conflicts),
        warnings=[*sentences(findings), *(f"{name}: {sentence}" for name, sentence in odd.items() if sentence)],
        notes=[each.note for each in inputs if each.note],
        examples=examples(findings, inputs),
        dropped=_write_cleaned(inputs, findings, threshold, drop) if drop is not None else {},
    )


def _write_cleaned(inputs: Sequence[Input], findings: Findings, threshold: float, folder: Path) -> Table:
    """Returns what also lies beside the cleaned files: what went, and why."""
    reasons = rows_to_drop(findings.parts, threshold)
    rows = {name: {reason: int(mask.sum()) for reason, mask in masks.items()} for name, masks in reasons.items()}
    for name, left in rows.items():
        rows[name] = {"kept": findings.parts[name].rows - sum(left.values())} | left
    try:
        with whole_folder(folder, CARD, private=False) as fresh:
            files = {
                each.name: copy_without(each, findings.parts[each.name], reasons[each.name], fresh / each.name)
                for each in inputs
            }
            names = {name: [str(path.relative_to(fresh)) for path in paths] for name, paths in files.items()}
            table = {"rows": rows, "files": names}
            (fresh / CARD).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as problem:
        raise DataError(f"{problem.filename or folder}: {problem.strerror}; nothing was written to {folder}") from None
    return {"folder": str(folder)} | table

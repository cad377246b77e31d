"""Where the numbers of a comparison come from: files and their hashes, the run, the bill."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from headstart.model import bill as bills
from headstart.recipes.comparing.arms import Table
from headstart.recipes.comparing.plan import Bench, Contest, Request
from headstart.text.reading.parallel import split_spec
from headstart.text.records import Row
from headstart.whole import sha256


def data_of(contest: Contest, bench: Bench, test: Sequence[Row]) -> Table:
    """For each part its files with their SHA-256, its rows and how many have each label."""
    parts = {"train": (contest.train, bench.train), "valid": (contest.valid, bench.valid), "test": (contest.test, test)}
    return {
        name: {
            "files": files_of([Path(half) for half in split_spec(spec)]),
            "rows": len(rows),
            "labels": dict(sorted(Counter(row.label for row in rows).items())),
            "words": bench.leaks.facts[name]["words"],
            "empty": bench.leaks.facts[name]["empty"],
        }
        for name, (spec, rows) in parts.items()
    }


def bill_of(bench: Bench) -> Table:
    """The classifier that every system trains, to the unit, and its work at the longest text it reads."""
    shape, classes = bench.card.shape, len(bench.labels)
    lines = bills.bill(shape, "classify", classes=classes)
    length, rows = shape.context, bench.settings.finetune.rows
    memory = bills.memory(shape, "classify", rows=rows, length=length, classes=classes)
    return {
        "parameters": bills.total(lines),
        "lines": [vars(line) for line in lines],
        "length": length,
        "rows": rows,
        "flops_per_token": vars(bills.work(shape, "classify", length=length, classes=classes)),
        "memory_bytes": {**vars(memory), "total": memory.total},
    }


def run_of(request: Request, bench: Bench) -> Table:
    """The pretrained run: its folder, the hash of its checkpoint, of its tokenizer and of its corpus."""
    card = bench.card
    return {
        "folder": str(request.run),
        "checkpoint": bench.starts[0].parent,
        "tokenizer": card.tokenizer,
        "corpus": card.corpus,
        "step": card.step,
        "scores": card.scores,
        "shape": vars(card.shape),
    }


def files_of(paths: Sequence[Path]) -> list[Table]:
    return [{"name": str(path), "bytes": path.stat().st_size, "sha256": sha256(path)} for path in paths]

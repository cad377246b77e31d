"""A comparison whose models are pretended: what they answer is fixed by system, seed and labels, in no time at all."""

import atexit
import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from headstart.checkpoint import Card, build, save
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape
from headstart.recipes.compare import Tools, compare
from headstart.recipes.comparing.plan import Request
from headstart.recipes.finetune import Epoch, FineTuned
from headstart.recipes.predict import Prediction
from headstart.recipes.settings import Settings
from headstart.text.records import Row
from headstart.text.subwords import train_tokenizer
from headstart.train.settings import FineTuning
from headstart.train.transfer import Ledger

GOOD, BAD = ["superbe", "tendre", "drôle", "juste", "vif"], ["plat", "long", "vide", "raté", "mou"]
FILLING = ["livre", "film", "auteur", "page", "chapitre", "ton", "style", "fin", "début", "lecture"]
HOSTILE = [
    "<script>alert('x')</script> superbe <b>gras</b> </script></style></body>",
    "[red]vide[/red] [link=http://x]plat[/link] \x1b[31mrouge\x1b[0m \x07 \u202eenvers raté",
    "{{ 7 * 7 }} {% raise %} superbe & <img src=x onerror=alert(1)> \"'`",
]


def reviews(count: int, seed: int) -> list[dict[str, str]]:
    """Most of the telling words are true, so that a baseline learns much but not all."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        good = number % 2 == 0
        told = [random.choice(GOOD if (random.random() < 0.72) == good else BAD) for _ in range(3)]
        words = [*told, *random.choice(FILLING, 9), f"mot{random.integers(400)}"]
        found.append({"text": " ".join(map(str, random.permutation(words))), "label": "good" if good else "bad"})
    return found


def write_rows(path: Path, rows: Sequence[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def write_run(folder: Path) -> Path:
    """A pretrained run without any training in it."""
    tokenizer = train_tokenizer([row["text"] for row in reviews(200, 9)], 300)
    shape = Shape(vocabulary=tokenizer.size, width=8, depth=1, heads=2, hidden=16, context=32)
    model = build("lm", shape)
    assert isinstance(model, LanguageModel)
    save(folder / "best", model, Card(task="lm", shape=shape, corpus="c0ffee" * 10), tokenizer)
    (folder / "last").mkdir()
    memory = {"step": 900, "tokens": 1_843_200, "seconds": 184.0}
    (folder / "last" / "memory.json").write_text(json.dumps(memory), "utf-8")
    return folder


def request(folder: Path, **changes: Any) -> Request:
    """Files in `folder`: 240 rows to train on, 100 to choose on, 400 to test on, five of which stand in train too."""
    if not (folder / "run").exists():
        train, test = reviews(240, 1), reviews(400, 3)
        test[40:45] = train[:5]
        for number, text in enumerate(HOSTILE):
            test[7 + 2 * number] = {"text": text, "label": "bad"}
        write_rows(folder / "train.jsonl", train)
        write_rows(folder / "valid.jsonl", reviews(100, 2))
        write_rows(folder / "test.jsonl", test)
        write_run(folder / "run")
    given: dict[str, Any] = {
        "train": str(folder / "train.jsonl"),
        "valid": str(folder / "valid.jsonl"),
        "test": str(folder / "test.jsonl"),
        "run": folder / "run",
        "out": folder / "cmp",
        "seeds": (0, 1, 2),
        "label_counts": (20, 80),
        "settings": Settings(finetune=FineTuning(epochs=6)),
        "command": "headstart compare train.jsonl --from run --valid valid.jsonl --test test.jsonl --out cmp",
    }
    return Request(**{**given, **changes})


def skill(folder: Path) -> float:
    """How often a pretended model is right: the head start is worth most where labels are few."""
    system, *rest = folder.name.split("-")
    labels = int(rest[0]) if "labels" in rest else 240
    level = {"pretrained": 0.80, "scratch": 0.55}[system]
    gain = {"pretrained": 0.035, "scratch": 0.075}[system]
    return level + gain * float(np.log2(labels / 20)) + 0.01 * int(rest[-1])


def pretend_to_train(train: Sequence[Row], valid: Sequence[Row], *, out: Path, **given: Any) -> FineTuned:
    (out / "best").mkdir(parents=True, exist_ok=True)
    (out / "best" / "seen.json").write_text(json.dumps([row.text for row in train]), "utf-8")
    top, start = skill(out), 0.55 if out.name.startswith("scratch") else 0.74
    epochs = []
    for number in range(1, given["settings"].finetune.epochs + 1):
        reached = top - (top - min(start, top)) * 0.55 ** (number - 1) - 0.012 * (number > 4)
        epochs.append(Epoch(number, 4.1 * number, 0.9 / number, 1 - reached, round(reached, 3), round(reached, 3)))
    best = max(epochs, key=lambda epoch: epoch.accuracy).number
    ledger = Ledger(
        str(given["start"] or "scratch"), {"body.embedding": 100} if given["start"] else {}, {"head": 6}, {}
    )
    return FineTuned(out, tuple(epochs), best, 4.1 * len(epochs), ledger, ())


def pretend_to_predict(run: Path, rows: Sequence[Row], device: str = "auto") -> list[Prediction]:
    """Right where a draw that hangs on the text and the run says so; a text that is hard is hard for all."""
    assert not any(row.label for row in rows), "a model never sees a test label"
    found = []
    for row in rows:
        good = sum(word in row.text for word in GOOD) >= sum(word in row.text for word in BAD)
        hard, luck = _draw(row.text), _draw(f"{run.name} {row.text}")
        right = 0.7 * hard + 0.3 * luck < skill(run)
        share = 0.5 + 0.5 * max(0.02, min(0.99, abs(skill(run) - 0.7 * hard - 0.3 * luck) * 1.4))
        scores = (1 - share, share) if good == right else (share, 1 - share)
        found.append(Prediction("good" if scores[1] > 0.5 else "bad", share, scores))
    return found


def _draw(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48


PRETENDED = Tools(finetune=pretend_to_train, predict=pretend_to_predict)


@cache
def finished_comparison() -> Path:
    """A whole comparison, made once for all tests that only look at it: its folder, with the data and `cmp` in it."""
    folder = Path(tempfile.mkdtemp(prefix="headstart-compare-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compare(request(folder), tools=PRETENDED)
    return folder

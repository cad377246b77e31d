"""The texts that every contender reads: one tokenizer, one token store, the same labelled rows and prompts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from headstart.data.windows import CausalWindows
from headstart.recipes.demos.reviews import write_demo_data
from headstart.text.readers import Corpus, read_rows
from headstart.text.records import Row
from headstart.text.store import Store, open_store
from headstart.text.stream import build_store
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

ROWS, LENGTH, CONTEXT = 16, 128, 512  # the lab's batch, its windows, and where it cuts a text
PROMPTS, LONGEST_PROMPT = 32, 24


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """How much one repeat does."""

    steps: int = 3
    train_texts: int = 1_600
    test_texts: int = 2_000
    written: int = 100
    vocabulary: int = 50_001
    documents: int = 0  # of the demo's corpus; 0 for all


PARTS = ("train", "valid", "test")
QUICK = Amounts(steps=1, train_texts=32, test_texts=32, written=8, vocabulary=2_000, documents=500)


@dataclass(frozen=True)
class Texts:
    """A folder that was prepared once; each contender opens it in its own process."""

    folder: Path
    amounts: Amounts

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer.load(self.folder / "tokenizer")

    @cached_property
    def store(self) -> Store:
        return open_store(self.folder / "tokens")

    def windows(self, *, held_out: bool = False, rows: int = ROWS, length: int = LENGTH) -> CausalWindows:
        tokens = self.store.valid if held_out else self.store.train
        return CausalWindows(tokens, length, rows, 0, self.tokenizer.pad)

    @cached_property
    def train(self) -> list[Row]:
        return self._rows("train", self.amounts.train_texts)

    @cached_property
    def valid(self) -> list[Row]:
        return self._rows("valid", self.amounts.test_texts)

    @cached_property
    def test(self) -> list[Row]:
        return self._rows("test", self.amounts.test_texts)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(sorted({row.label for row in self.train}))

    def prompts(self, count: int) -> list[list[int]]:
        """The beginnings of test texts, of different lengths as a user's are."""
        texts = self.tokenizer.encode_batch([row.text for row in self._rows("test", count)])
        shortest = LONGEST_PROMPT // 3
        lengths = [shortest + number * 7 % (LONGEST_PROMPT - shortest) for number in range(count)]
        return [[self.tokenizer.sos, *ids[:length]] for ids, length in zip(texts, lengths)]

    def _rows(self, part: str, most: int) -> list[Row]:
        lines = (self.folder / f"{part}.jsonl").read_text("utf-8").splitlines()[:most]
        return [Row(**json.loads(line)) for line in lines]


def prepare(folder: Path, amounts: Amounts, corpus: Sequence[str] = (), lab: Path | None = None) -> Texts:
    """Read the files once. Without a corpus and without the lab's files, the demo's reviews are used."""
    if lab:
        paths = [_lab_file(lab, "train.review.spm")]
        parts = {part: f"{_lab_file(lab, f'{part}.review.spm')}:{_lab_file(lab, f'{part}.label')}" for part in PARTS}
    else:
        demo = write_demo_data(folder / "demo")
        paths, parts = [_beginning(demo.corpus, amounts.documents)], {part: str(getattr(demo, part)) for part in PARTS}
    rows = {part: list(read_rows(spec)) for part, spec in parts.items()}
    return lay_out(folder, amounts, Corpus([*corpus] or paths), rows, Tokenizer.load(lab) if lab else None)


def lay_out(
    folder: Path, amounts: Amounts, corpus: Corpus, rows: Mapping[str, Sequence[Row]], tokenizer: Tokenizer | None
) -> Texts:
    """Without a tokenizer, one is trained on the corpus."""
    if tokenizer is None:
        tokenizer = train_tokenizer((document.text for document in corpus.documents()), amounts.vocabulary)
    tokenizer.save(folder / "tokenizer")
    build_store(corpus, tokenizer, folder / "tokens", holdout=0.02)
    for part in PARTS:
        lines = [json.dumps(asdict(row) | {"pieces": ""}) + "\n" for row in rows[part]]  # raw text for everybody
        (folder / f"{part}.jsonl").write_text("".join(lines), "utf-8")
    return Texts(folder, amounts)


def _beginning(corpus: Path, documents: int) -> Path:
    if documents:
        lines = corpus.read_text("utf-8").splitlines(keepends=True)[:documents]
        corpus.write_text("".join(lines), "utf-8")
    return corpus


def _lab_file(lab: Path, name: str) -> Path:
    return lab / "cls-books" / name

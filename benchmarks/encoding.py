"""Building a token store against a plain SentencePiece loop: speed, then memory on one and four copies.

python -m benchmarks.encoding PATH [--tokenizer DIR|FILE]
"""

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from headstart.text.readers import Corpus
from headstart.text.stream import build_store
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path, help="a corpus file")
    parser.add_argument("--tokenizer", type=Path, help="without one, 16,000 pieces are trained on the corpus")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = _tokenizer(given.tokenizer, given.path)
        tokenizer.save(Path(folder) / "tokenizer")
        loops = [_loop(tokenizer, given.path)]
        runs = [measure_copies(given.path, copies, Path(folder)) for copies in (1, 4)]
        loops.append(_loop(tokenizer, given.path))
    usual = max(loops, key=lambda loop: loop.speed)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; a load of others spoils the ratio")
    print(f"one loop over sentencepiece  {usual}   the faster of two, reading not counted")
    for name, run in zip(("token store", "token store of 4 copies"), runs):
        print(f"{name:<28} {run}   {run.speed / usual.speed:.2f} times as fast   {run.peak / 1e6:,.0f} MB at most")


@dataclass(frozen=True)
class Run:
    tokens: int
    seconds: float
    processor: float
    peak: int = 0

    @property
    def speed(self) -> float:
        return self.tokens / self.seconds

    def __str__(self) -> str:
        return f"{self.speed:>9,.0f} tokens/s   {self.processor:5.1f} s on {self.processor / self.seconds:.1f} cores"


def _tokenizer(path: Path | None, corpus: Path) -> Tokenizer:
    if path is not None:
        return Tokenizer.load(path)
    texts = (document.text for document in islice(Corpus([corpus]).documents(), 5_000))
    return train_tokenizer(texts, 16_000)


def _loop(tokenizer: Tokenizer, path: Path) -> Run:
    """The usual way: one text after the other."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_proto=tokenizer.source.model)
    texts = [document.text for document in Corpus([path]).documents()]
    start, used = time.perf_counter(), time.process_time()
    tokens = sum(len(processor.encode(text)) for text in texts)
    return Run(tokens, time.perf_counter() - start, time.process_time() - used)


def measure_copies(path: Path, copies: int, folder: Path) -> Run:
    """Build a store in a process of its own and watch the memory of its whole tree."""
    corpus = folder / f"copies-{copies}"
    corpus.mkdir()
    for copy in range(copies):
        shutil.copy(path, corpus / f"{copy}-{path.name}")
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=_build, args=(corpus, folder, answers))
    process.start()
    peak = 0
    while process.is_alive():
        peak = max(peak, _resident(process.pid))
        process.join(0.05)
    return replace(answers.get(), peak=peak)


def _build(corpus: Path, folder: Path, answers: Any) -> None:
    tokenizer = Tokenizer.load(folder / "tokenizer")
    start, used = time.perf_counter(), time.process_time()
    card = build_store(Corpus([corpus]), tokenizer, folder / f"{corpus.name}-tokens").card
    tokens = card.train.count + card.valid.count
    answers.put(Run(tokens, time.perf_counter() - start, time.process_time() - used))


def _resident(pid: int | None) -> int:
    try:
        root = psutil.Process(pid)
        return sum(process.memory_info().rss for process in (root, *root.children(recursive=True)))
    except psutil.NoSuchProcess:
        return 0


if __name__ == "__main__":
    main()

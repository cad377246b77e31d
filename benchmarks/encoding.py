"""Building a token store against a plain SentencePiece loop: speed, then memory on one and four copies.

python -m benchmarks.encoding PATH [--tokenizer DIR|FILE]
"""

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from itertools import islice
from pathlib import Path

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
        before = _loop(tokenizer, given.path)
        runs = [_measure(given.path, copies, Path(folder)) for copies in (1, 4)]
        usual = max(before, _loop(tokenizer, given.path))
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; the load of others makes the ratio meaningless")
        print(f"one loop over sentencepiece  {usual:>12,.0f} tokens/s   the faster of two; reading not counted")
        for copies, (speed, peak) in zip((1, 4), runs):
            name = f"token store of {copies} {'copy' if copies == 1 else 'copies'}"
            print(f"{name:<28} {speed:>12,.0f} tokens/s   {speed / usual:.2f} times   {peak / 1e6:,.0f} MB at most")


def _tokenizer(path: Path | None, corpus: Path) -> Tokenizer:
    if path is not None:
        return Tokenizer.load(path)
    texts = (document.text for document in islice(Corpus([corpus]).documents(), 5_000))
    return train_tokenizer(texts, 16_000)


def _loop(tokenizer: Tokenizer, path: Path) -> float:
    """Tokens a second the usual way: one text after the other."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_proto=tokenizer.source.model)
    texts = [document.text for document in Corpus([path]).documents()]
    tokens = 0
    start = time.perf_counter()
    for text in texts:
        tokens += len(processor.encode(text))
    return tokens / (time.perf_counter() - start)


def _measure(path: Path, copies: int, folder: Path) -> tuple[float, int]:
    """Tokens a second and most memory of a process of its own, its whole tree watched."""
    corpus = folder / f"copies-{copies}"
    corpus.mkdir()
    for copy in range(copies):
        shutil.copy(path, corpus / f"{copy}-{path.name}")
    context = multiprocessing.get_context("spawn")
    speed = context.Value("d", 0.0)
    process = context.Process(target=_build, args=(corpus, folder / "tokenizer", speed))
    process.start()
    peak = 0
    while process.is_alive():
        peak = max(peak, _resident(process.pid))
        process.join(0.05)
    return speed.value, peak


def _build(corpus: Path, tokenizer: Path, speed: "multiprocessing.sharedctypes.Synchronized[float]") -> None:
    start = time.perf_counter()
    card = build_store(Corpus([corpus]), Tokenizer.load(tokenizer), corpus / "tokens").card
    speed.value = (card.train.count + card.valid.count) / (time.perf_counter() - start)


def _resident(pid: int | None) -> int:
    try:
        root = psutil.Process(pid)
        return sum(process.memory_info().rss for process in (root, *root.children(recursive=True)))
    except psutil.NoSuchProcess:
        return 0


if __name__ == "__main__":
    main()

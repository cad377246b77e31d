"""Texts longer than those of the training: held-out bits per byte at 1, 2 and 4 times the training length.

python -m benchmarks.longer CORPUS [--minutes M] [--length L]

Three small models differ in their positions only: sinusoidal, learned, rotary. Each takes the same steps on windows
of L tokens, in which documents follow each other and positions run through (`data.across`), so that every position
up to L is trained and none beyond. The same held-out tokens are then predicted with L, 2 L and 4 L tokens to look
back at: a window ends at them, they are its last L / 4, and positions count from its start. What differs along a row
of the table is only how much comes before. Learned positions have no vector past their table: here the table has 4 L
rows, of which the last 3 L keep their random start; what a table of L rows says to 2 L tokens stands below.

Bits per byte use the bytes per token of all held-out text, the same number in every cell.
"""

import argparse
import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from headstart.checkpoint import build, load
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.run_file import read_run_file
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.settings import Settings, read_settings
from headstart.text.readers import Corpus
from headstart.text.store import Tokens, open_store
from headstart.text.subwords import train_tokenizer

POSITIONS = ("sinusoidal", "learned", "rotary")
TIMES = (1, 2, 4)
ROWS = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", help="a file or folder of text")
    parser.add_argument(
        "--minutes", type=float, default=4.0, help="of training; the first model's steps are taken by all"
    )
    parser.add_argument("--length", type=int, default=128, help="tokens in a training window")
    parser.add_argument("--vocabulary", type=int, default=8_000)
    parser.add_argument("--targets", type=int, default=16_384, help="held-out tokens to predict, at most")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tokenizer, run = Path(folder) / "tokenizer", Path(folder) / "run"
        texts = (document.text for document in Corpus([given.corpus]).documents())
        train_tokenizer(texts, given.vocabulary).save(tokenizer)
        stop = StopRule(minutes=given.minutes)
        rows = []
        for positions in POSITIONS:
            settings = small_settings(positions, given.length, given.vocabulary)
            pretrain(
                [given.corpus], run, settings=settings, stop=stop, tokenizer=tokenizer, seed=given.seed, force=True
            )
            stop = StopRule(steps=int(read_run_file(run)["run"]["steps"]))
            held_out = open_store(run / "tokens").valid
            model = load(run).model
            assert isinstance(model, LanguageModel)
            rows.append((positions, bits_by_length(model, held_out, given.length, given.targets)))
            print(f"{positions}: {stop.steps:,} steps", flush=True)
        scored = len(window_ends(held_out, given.length, given.targets)) * max(1, given.length // 4)
        print(f"\nHeld-out bits per byte of the same {scored:,} tokens, at 1, 2 and 4 times the training length:")
        show(rows, given.length)
        print(f"\nA table of {given.length} rows, asked for more: {refusal(load(run).card.shape, given.length)}")


def small_settings(positions: str, length: int, vocabulary: int) -> Settings:
    shape = [f"model.vocabulary={vocabulary}", "model.width=128", "model.depth=4", "model.heads=4", "model.hidden=512"]
    shape += ["model.dropout=0.0", "model.embedding_dropout=0.0", f"model.context={TIMES[-1] * length}"]
    windows = [f"data.length={length}", f"data.rows={ROWS}", "data.across=true", "data.holdout=0.02"]
    return read_settings("tiny", None, [*shape, *windows, f"model.positions={positions}"])


def window_ends(tokens: Tokens, length: int, most: int) -> np.ndarray:
    """Where the windows end, a quarter of `length` apart: no token is scored twice."""
    scored, longest = max(1, length // 4), TIMES[-1] * length
    ends = np.arange(longest, len(tokens), scored)[: max(1, most // scored)]
    if not len(ends):
        raise SystemExit(f"only {len(tokens):,} tokens are held out, fewer than {longest + 1:,}: give a larger corpus")
    return ends


@torch.no_grad()
def bits_by_length(model: LanguageModel, tokens: Tokens, length: int, most: int) -> list[float]:
    """Bits per byte of the same tokens, in windows of 1, 2 and 4 times `length` that end with them."""
    scored, longest = max(1, length // 4), TIMES[-1] * length
    ends = window_ends(tokens, length, most)
    sos = tokens.ids[0]  # every document starts with it, and nothing is learnt about when it comes
    totals, count = np.zeros(len(TIMES)), 0
    for chunk in np.array_split(ends, math.ceil(len(ends) / ROWS)):
        window = torch.from_numpy(tokens.ids[chunk[:, None] + np.arange(-longest, 1)].astype(np.int64))
        targets = window[:, -scored:]
        targets = targets.masked_fill(targets == int(sos), -100)
        for column, times in enumerate(TIMES):
            x = model.body(window[:, -times * length - 1 : -1])[:, -scored:]
            totals[column] += F.cross_entropy(model.head(x).flatten(0, 1), targets.flatten(), reduction="sum").item()
        count += int((targets >= 0).sum())
    tokens_per_byte = (len(tokens) - tokens.documents) / tokens.bytes
    return [float(total) / count / math.log(2) * tokens_per_byte for total in totals]


def show(rows: Sequence[tuple[str, list[float]]], length: int) -> None:
    print(f"\n| positions | {' | '.join(f'{times} × {length}' for times in TIMES)} |")
    print(f"|---|{'---:|' * len(TIMES)}")
    for name, bits in rows:
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in bits)} |")


def refusal(shape: Shape, length: int) -> str:
    model = build("lm", replace(shape, positions="learned", context=length))
    try:
        model(torch.zeros(1, 2 * length, dtype=torch.long))
    except ValueError as problem:
        return str(problem)
    raise AssertionError("a position without a vector was taken")


if __name__ == "__main__":
    main()

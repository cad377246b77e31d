"""What a pretrained reader is worth to a translator: with one and without, the same minutes, several seeds.

python -m benchmarks.warm_start --train TRAIN --valid VALID --test TEST --text TEXT --minutes 20 --out runs/warm

A masked model learns TEXT, in the source language, for `--body-minutes` and with all cores. Then, for each seed, two
translators of its shape and with its tokenizer: one whose reader starts from it, one that starts afresh; what is set
with `--set` holds for both. Each has one thread; as many run at once as there are cores, a pair of arms side by side,
so that both have the same machine. The test is read once, when all are trained. What is finished is kept: the same
command goes on.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import RESULTS

BODY = ["train.rate=1e-3", "train.decay=cosine", "train.floor=0.05", "train.weight_decay=0.01", "data.holdout=0.02"]
ARMS = ("warm", "cold")


def headstart(*words: str, threads: int = 1) -> Any:
    """What a command says in JSON."""
    command = [sys.executable, "-m", "headstart", *words, "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def body_words(text: list[str], out: Path, minutes: float) -> list[str]:
    sets = [word for each in BODY for word in ("--set", each)]
    words = ["pretrain", *text, "--out", str(out), "--objective", "masked", "--preset", "translate-tiny"]
    return [*words, "--minutes", str(minutes), "--resume", *sets]


def arm_words(arm: str, given: argparse.Namespace, seed: int) -> list[str]:
    """Both arms read with the body's tokenizer and write with one of their own: only the starting weights differ."""
    body, out = given.out / "body", given.out / f"{arm}-{seed}"
    words = ["translator", given.train, "--valid", given.valid, "--out", str(out), "--minutes", str(given.minutes)]
    words += ["--seed", str(seed), "--resume", *(word for each in given.set for word in ("--set", each))]
    if arm == "warm":
        return [*words, "--from", str(body), "--separate"]
    return [*words, "--source-tokenizer", str(body / "best" / "tokenizer")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for part in ("train", "valid", "test"):
        parser.add_argument(f"--{part}", required=True, help="pairs, as headstart translator takes them")
    parser.add_argument("--text", required=True, nargs="+", help="what the body is pretrained on")
    parser.add_argument("--minutes", type=float, default=20.0, help="for each translator")
    parser.add_argument("--body-minutes", type=float, default=10.0)
    parser.add_argument("--set", action="append", default=[], metavar="PLACE=VALUE", help="of both translators")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="translators trained at once")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    words = body_words(given.text, given.out / "body", given.body_minutes)
    body = headstart(*words, threads=os.cpu_count() or 1)
    names = [(arm, seed) for seed in range(given.seeds) for arm in ARMS]
    with ThreadPoolExecutor(given.jobs) as pool:
        trained = list(pool.map(lambda name: headstart(*arm_words(name[0], given, name[1])), names))
    tested = [headstart("evaluate", str(given.out / f"{arm}-{seed}"), given.test) for arm, seed in names]
    rows = [
        {
            "arm": arm,
            "seed": seed,
            "steps": run["steps"],
            "tokens": run["tokens"],
            "valid": run["scores"],
            "test": test,
        }
        for (arm, seed), run, test in zip(names, trained, tested)
    ]
    found = {
        "minutes": given.minutes,
        "set": given.set,
        "body": {"minutes": given.body_minutes, "scores": body["scores"]},
        "arms": rows,
    }
    (given.results / "warm_start.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    for line in lines(rows):
        print(line)


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each arm, and one for what the pretrained reader was worth."""
    told, means = [], {}
    for arm in ARMS:
        own = [row for row in rows if row["arm"] == arm]
        figures = {part: [_bleu(row, part) for row in own] for part in ("valid", "test")}
        means[arm] = {part: mean(values) for part, values in figures.items()}
        each = ", ".join(
            f"{part} {means[arm][part]:.2f} ({' '.join(f'{value:.2f}' for value in values)})"
            for part, values in figures.items()
        )
        told.append(f"{arm}: BLEU {each}; bits per byte {mean(row['valid']['bits_per_byte'] for row in own):.3f}")
    gains = [means["warm"][part] - means["cold"][part] for part in ("valid", "test")]
    return [*told, f"warm - cold: {gains[0]:+.2f} on validation, {gains[1]:+.2f} on test"]


def _bleu(row: dict[str, Any], part: str) -> float:
    return float(row["valid"]["bleu"] if part == "valid" else row["test"]["scores"]["bleu"]["value"])


if __name__ == "__main__":
    main()

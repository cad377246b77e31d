"""Ours, the lab's loop and Hugging Face side by side on the same texts, then how our cost grows.

python -m benchmarks [CORPUS ...] [--lab FOLDER] [--quick]

Without a corpus and without the lab's files, the reviews of the demo are read. Results go to benchmarks/results/.
Nothing else should run meanwhile; contenders take turns, so that what does run hits all of them alike.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import RESULTS


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = compare(given, folder)
        if not given.areas:
            found["growth"] = grow(given, folder)
            write(found, given.out)
            others(given, folder)
    print(f"\nWritten: {given.out / 'side_by_side.json'} and {given.out / 'side_by_side.svg'}")


def write(found: dict[str, Any], out: Path) -> None:
    """After each part, so that what is measured is kept."""
    from benchmarks.figure import draw

    out.mkdir(parents=True, exist_ok=True)
    (out / "side_by_side.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    draw(found, out / "side_by_side.svg")


def arguments() -> argparse.Namespace:
    from benchmarks.areas import AREAS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", nargs="*", help="files of raw text to pretrain on")
    parser.add_argument("--lab", type=Path, help="the lab's folder: sentencepiece.french.model, dict.txt, cls-books/")
    parser.add_argument("--areas", nargs="+", choices=AREAS, help="only these, and no growth")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a minute: does everything run? The figures mean nothing")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


def compare(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Area by area: measured, shown, and returned with what is needed to judge it."""
    from benchmarks import limits, table
    from benchmarks.areas import AREAS
    from benchmarks.peers.ours import shape_of
    from benchmarks.side_by_side import measure
    from benchmarks.texts import QUICK, Amounts, prepare

    texts = prepare(folder / "texts", QUICK if given.quick else Amounts(), given.corpus, given.lab)
    processor = limits.measure_processor(0.2 if given.quick else 2.0)
    most = limits.limits(processor, texts, shape_of(texts))
    print(
        f"{processor.threads} thread(s); matrix product {processor.operations / 1e9:,.0f} GFLOP/s, "
        f"reading {processor.bytes / 1e9:.1f} GB/s; median [least, most] of the repeats"
    )
    versions = {package: version(package) for package in ("torch", "transformers", "tokenizers")}
    about = {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "quick": given.quick, "versions": versions}
    areas: dict[str, Any] = {}
    found = about | {"processor": asdict(processor), "amounts": asdict(texts.amounts), "areas": areas}
    for name in given.areas or AREAS:
        results = measure(AREAS[name].contenders, texts, 2 if given.quick else given.repeats)
        print("", *table.lines(AREAS[name], results, most[name]), sep="\n", flush=True)
        measured = {contender: asdict(result) for contender, result in results.items()}
        areas[name] = {"unit": AREAS[name].unit, "limit": most[name], "results": measured}
        write(found, given.out)
    return found


def grow(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from benchmarks import growth
    from benchmarks.texts import QUICK, Amounts, Texts

    texts = Texts(folder / "texts", QUICK if given.quick else Amounts())
    return growth.measure(texts, folder, given.corpus, quick=given.quick)


def others(given: argparse.Namespace, folder: Path) -> None:
    """The measurements of single parts."""
    if given.quick:
        return
    corpus = given.corpus[0] if given.corpus else str(folder / "texts" / "demo" / "corpus.txt")
    commands = [["benchmarks.guard"]]
    if Path(corpus).exists():
        commands.insert(0, ["benchmarks.encoding", corpus, "--tokenizer", str(folder / "texts" / "tokenizer")])
    for words in commands:
        print(f"\n== python -m {' '.join(words)}", flush=True)
        subprocess.run([sys.executable, "-m", *words], check=True)


if __name__ == "__main__":
    main()

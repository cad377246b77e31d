"""Decoding beside others: one translator in our search, in Marian's `generate` and in CTranslate2, in float32.

python -m benchmarks.decoding RUN SOURCES [--beam 4] [--repeats 3]

RUN is a translator that Marian's classes can hold: trained with --set model.norm=post. All rank by probability, without
length penalty, so that all look for the same translation. Ours is also run without cache and batches, on every tenth
sentence. All take turns. CTranslate2 is left out where it is not installed: pip install ctranslate2
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import torch

from benchmarks import RESULTS
from benchmarks.peers.marian import Decoder, as_marian, ctranslate2, fits, marian
from benchmarks.table import spread
from headstart.checkpoint import load
from headstart.generate.beam import Search, search, search_all
from headstart.generate.choose import never_written
from headstart.model.models import Translator
from headstart.text.reading.opening import read_lines
from headstart.text.reading.sources import source_at
from headstart.train.device import choose_device

OURS, ALONE, MARIAN, CTRANSLATE2 = "headstart", "headstart, no cache, one by one", "Marian's generate", "CTranslate2"
EVERY = 10  # the slow way reads one sentence of so many


def decoders(model: Translator, forbidden: Sequence[int], beam: int, folder: Path) -> dict[str, Decoder]:
    how, threads = Search(beam=beam, penalty=0.0), torch.get_num_threads()
    theirs = as_marian(model)
    found: dict[str, Decoder] = {
        OURS: lambda sources: [best[0].ids for best in search_all(model, sources, how, forbidden=forbidden, wanted=1)],
        ALONE: lambda sources: [
            search(model, [source], how, forbidden=forbidden, cached=False, wanted=1)[0][0].ids for source in sources
        ],
        MARIAN: marian(theirs, beam),
    }
    return found | (
        {CTRANSLATE2: ctranslate2(theirs, beam, folder / "model", threads)} if find_spec("ctranslate2") else {}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path, help="a translator")
    parser.add_argument("sources", type=Path, help="a sentence a line")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    saved = load(given.run, choose_device("cpu"))  # oneDNN and kept memory, for all alike
    model, tokenizer = saved.model, saved.source_tokenizer
    if not isinstance(model, Translator) or (problem := fits(model)):
        raise SystemExit(f"{given.run}: {problem if isinstance(model, Translator) else 'not a translator'}")
    lines = list(read_lines(source_at(str(given.sources))))
    sources = [[*ids, tokenizer.eos] for ids in tokenizer.encode_batch(lines) if ids]
    with tempfile.TemporaryDirectory() as name:
        forbidden = never_written(saved.tokenizer, saved.card.shape.vocabulary)
        found = compare(decoders(model, forbidden, given.beam, Path(name)), sources, given.repeats)
    given.out.mkdir(parents=True, exist_ok=True)
    about = {"sentences": len(sources), "beam": given.beam, "threads": torch.get_num_threads()}
    path = given.out / "decoding.json"
    path.write_text(json.dumps(about | {"found": found}, indent=1) + "\n", "utf-8")
    print(f"Written: {path}")


def compare(
    contenders: dict[str, Decoder], sources: Sequence[Sequence[int]], repeats: int
) -> dict[str, dict[str, object]]:
    """Sentences a second in each repeat, and the share of translations that are ours, token by token."""
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    written = {}
    for repeat in range(repeats + 1):  # the first is a warm-up
        for name, decode in contenders.items():
            chosen = sources[::EVERY] if name == ALONE else sources
            started = time.perf_counter()
            written[name] = decode(chosen if repeat else chosen[:: len(chosen) // 20 or 1])
            if repeat:
                rates[name].append(len(chosen) / (time.perf_counter() - started))
    found: dict[str, dict[str, object]] = {}
    for name, mine in rates.items():
        ours = written[OURS][::EVERY] if name == ALONE else written[OURS]
        same = sum(one == other for one, other in zip(written[name], ours)) / len(ours)
        ratio = spread([one / other for one, other in zip(rates[OURS], mine)])
        print(f"{name:<34}{median(mine):8.1f} sentences/s   ours is {ratio} × as fast   {same:.1%} the same")
        found[name] = {"sentences_per_second": mine, "same": same}
    return found


if __name__ == "__main__":
    main()

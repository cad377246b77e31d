"""The demo of the translator, told stage by stage."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headstart.cli.show import note, number, say, say_json
from headstart.cli.training_bar import TrainingBar
from headstart.cli.translating import tell_training


def demo_translate(out: Path, *, minutes: float, seed: int, resume: bool, force: bool, as_json: bool) -> None:
    """What `headstart demo --translate` does."""
    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.demo_translate import demo_translate

    with saved_on_interrupt(out):
        done = demo_translate(
            out,
            minutes=minutes,
            seed=seed,
            resume=resume,
            force=force,
            show=lambda title: TrainingBar(title, quiet=as_json and not sys.stderr.isatty()),
            tell=_tell if not as_json else lambda stage, found: None,
            say=note,
        )
    if as_json:
        say_json(asdict(done))
        return
    say(
        f"5. Test, once: {done.values:,} values that were held out by hash, beam 4. Exact match {done.exact:.2%} "
        f"(numbers {done.numbers:.2%}, dates {done.dates:.2%})."
    )
    for source, written, reference in done.mistakes:
        say(f"   wrong: {source}\n          {written}\n   not    {reference}")
    for source, written in done.shown:
        say(f"   {source}\n     → {written}")
    say(f"\nWhere it looks while it writes: {done.picture}")
    say(f'Try it: echo "twelve thousand and one" | headstart translate {done.run}')
    say("\nNow your own data:")
    say("  headstart check data --pairs --train train.en:train.de --valid valid.en:valid.de --test test.en:test.de")
    say("  headstart translator train.en:train.de --valid valid.en:valid.de --minutes 60 --out runs/mt")
    say("  headstart evaluate runs/mt test.en:test.de")


def _tell(stage: str, found: Any) -> None:
    if stage == "pairs":
        counts = ", ".join(f"{name} {count:,}" for name, count in found.pairs.items())
        say(f"1. Pairs: numbers and dates written out in English and French, in {found.train.parent}: {counts}.")
    if stage == "pair check":
        exact = sum(counts["exact"] for counts in found.sides["source"].overlaps.values())
        near = found.sides["source"].overlaps["train-test"]["near"]
        say(
            f"2. Check: {exact or 'no'} value stands in two parts. {near:,} of the test differ from one in train by a "
            "letter or a word, as numbers do."
        )
    if stage == "translator bill":
        say(f"3. Bill: {found.total:,} parameters, {number(found.work.training)}FLOP a pair of tokens in training.")
    if stage == "translator":
        say("4. Trained:")
        tell_training(found)

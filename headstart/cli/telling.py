"""The demo: the whole story, told stage by stage."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from headstart.cli.app import Force, Json, app, given_options
from headstart.cli.comparing import tell_comparison
from headstart.cli.show import note, number, say, say_json
from headstart.cli.training_bar import TrainingBar
from headstart.cli.training_options import LARGEST_SEED, Jobs, Resume

OUT = Path("runs/demo")  # of the translator's story, runs/demo-translate


@app.command()
def demo(
    ctx: typer.Context,
    minutes: Annotated[
        float, typer.Option(min=0, help="Of pretraining, 2.5 by default; of the translator's training, 4 by default.")
    ] = 0.0,
    translate: Annotated[
        bool, typer.Option("--translate", help="The translator's story instead: numbers and dates, English to French.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write.", show_default=f"{OUT}, or {OUT}-translate"),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many times each model is fine-tuned.")] = 3,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The base seed.")] = 0,
    jobs: Jobs = 0,
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """The whole story on film reviews that come with the install: check, tokenizer, bill, pretrain, compare, report."""
    if translate:
        from headstart.cli.telling_translation import demo_translate
        from headstart.errors import ConfigError

        if unfit := given_options(ctx) & {"--seeds", "--jobs"}:
            raise ConfigError(f"{', '.join(sorted(unfit))}: --translate trains one model, once; leave it out")
        place = out or OUT.with_name(f"{OUT.name}-translate")
        demo_translate(place, minutes=minutes or 4.0, seed=seed, resume=resume, force=force, as_json=as_json)
        return
    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.demo import demo

    out = out or OUT
    with saved_on_interrupt(out):
        done = demo(
            out,
            minutes=minutes or 2.5,
            seeds=seeds,
            seed=seed,
            jobs=jobs,
            resume=resume,
            force=force,
            show=lambda title: TrainingBar(title, quiet=title != "pretraining" and not sys.stderr.isatty()),
            tell=_tell if not as_json else lambda stage, found: None,
            say=note,
        )
    if as_json:
        say_json({"report": str(done.page), **done.scores})
        return
    say()
    tell_comparison(done.scores)
    say(f"\nOpen {done.page} in a browser.")
    say("\nNow your own data:")
    say("  headstart check data --corpus corpus.txt --train train.csv --valid valid.csv --test test.csv")
    say("  headstart pretrain corpus.txt --minutes 30 --out runs/lm")
    say("  headstart compare train.csv --from runs/lm --valid valid.csv --test test.csv --out runs/cmp")


def _tell(stage: str, found: Any) -> None:
    """One paragraph for each stage."""
    if stage == "data":
        say(f"1. Data: {found.reviews:,} film reviews without labels, and a few with; all in {found.corpus.parent}.")
    if stage == "check":
        rows = {name: facts["rows"] for name, facts in found.parts.items()}
        say(f"2. Check: {', '.join(f'{name} {count:,} rows' for name, count in rows.items())}.")
        for sentence in found.warnings or ["no duplicates, no leaks."]:
            say(f"   {sentence}")
    if stage == "tokenizer":
        report = found.report
        say(f"3. Tokenizer: {report.vocabulary:,} pieces, {report.characters_per_token:.2f} characters each.")
    if stage == "bill":
        say(
            f"4. Bill: {found.total:,} parameters, {number(found.work.training)}FLOP a token in training, "
            f"{found.memory.total / 1e6:,.0f} MB while training."
        )
    if stage == "pretrained":
        say(
            f"5. Pretrained on {found.tokens:,} tokens in {found.seconds / 60:.1f} minutes: "
            f"{found.scores['bits_per_byte']:.3f} bits per byte on held-out text "
            f"(perplexity {found.scores['perplexity']:.0f})."
        )
    if stage == "written":
        say(f"   It writes: {found}")
        say("6. Compare: the same model from scratch, from this run, and the classic baselines.")

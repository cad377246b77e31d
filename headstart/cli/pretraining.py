"""The command pretrain: raw text becomes a model that knows it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.cli.app import Config, Force, Json, Overrides, Preset, app
from headstart.cli.show import bytes_read, note, say, say_json
from headstart.cli.training_bar import TrainingBar
from headstart.cli.training_options import (
    Board,
    Device,
    Encoding,
    Minutes,
    Objective,
    Resume,
    Seed,
    Steps,
    TextColumn,
    as_overrides,
)
from headstart.errors import ConfigError

HELD_OUT = {
    "causal": "loss {held_out_loss:.3f}, perplexity {perplexity:.1f}, {bits_per_byte:.3f} bits per byte",
    "masked": "loss {masked_loss:.3f} for a hidden token",
    "bert": "loss {masked_loss:.3f} for a hidden token",
}
NEXT_SENTENCE = (
    " and {next_sentence_loss:.3f} for the next sentence, told right {next_sentence_accuracy:.1%} of the time"
)
NEXT = {
    "causal": 'headstart generate {} "Once upon a time"',
    "masked": 'headstart fill {} "Once upon a <mask>."',
    "bert": 'headstart fill {} "Once upon a <mask>."',
}


@app.command()
def pretrain(
    corpus: Annotated[list[str], typer.Argument(help="Files or folders of text; - for standard input.")],
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    preset: Preset = "tiny",
    objective: Objective = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="Go on with the weights of this run, its tokenizer and its shape.")
    ] = None,
    tokenizer: Annotated[Path | None, typer.Option(help="Its folder or file; without it one is trained.")] = None,
    whole_words: Annotated[bool, typer.Option("--whole-words", help="Hide whole words, not pieces of them.")] = False,
    minutes: Minutes = 0.0,
    epochs: Annotated[float, typer.Option(help="Stop after so many passes over the corpus.", show_default=False)] = 0.0,
    steps: Steps = 0,
    save_every: Annotated[int | None, typer.Option(help="Save the state every so many steps.")] = None,
    text_column: TextColumn = None,
    documents: Annotated[
        Literal["auto", "lines", "blocks"] | None,
        typer.Option(help="In .txt files a document is a line, or a block between blank lines."),
    ] = None,
    encoding: Encoding = None,
    seed: Seed = 0,
    device: Device = "auto",
    config: Config = None,
    overrides: Overrides = None,
    resume: Resume = False,
    force: Force = False,
    tensorboard: Board = False,
    as_json: Json = False,
) -> None:
    """Pretrain a model on raw text: by predicting the next token, or by guessing hidden ones from both sides.

    Try: headstart pretrain reviews.txt --out runs/lm --minutes 20

    Then, on text nearer to your task: headstart pretrain domain.txt --from runs/lm --out runs/lm2 --minutes 10
    """
    from dataclasses import asdict

    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.recipes.pretrain import pretrain
    from headstart.recipes.running.stopping import StopRule
    from headstart.recipes.settings import read_settings

    shaping = next((each for each in overrides or () if each.strip().startswith("model.")), "")
    if shaping and start is not None:
        raise ConfigError(f"--set {shaping}: the shape is that of {start}, whose weights go on; leave it out")
    if whole_words and not _hides(objective, start):
        hidden = "add --objective masked or bert" if start is None else f"{start} goes on as it was pretrained"
        raise ConfigError(f"--whole-words: a causal model hides no words; {hidden}, or leave it out")
    given = {
        "train.save_every": save_every,
        "data.whole_words": "true" if whole_words else None,
        "reading.text_column": text_column,
        "reading.documents": documents,
        "reading.encoding": encoding,
    }
    settings = read_settings(preset, config, [*as_overrides(given), *(overrides or ())])
    stop = StopRule(minutes=minutes or (10.0 if not (epochs or steps) else 0.0), epochs=epochs, steps=steps)
    with TrainingBar("pretraining") as bar, saved_on_interrupt(out):
        done = pretrain(
            corpus,
            out,
            settings=settings,
            stop=stop,
            objective=objective,
            start=start,
            tokenizer=tokenizer,
            seed=seed,
            device=device,
            resume=resume,
            force=force,
            tensorboard=tensorboard,
            say=note,
            watch=bar.watch,
            begin=bar.begin,
            show_reading=bytes_read,
        )
    if as_json:
        say_json({**asdict(done), "ledger": done.ledger.to_json()})
        return
    say(done.ledger.sentence())
    asked = NEXT_SENTENCE if "next_sentence_loss" in done.scores else ""
    figures = (HELD_OUT[done.objective] + asked).format(**done.scores)
    say(f"{done.steps:,} steps, {done.tokens:,} tokens in {done.seconds / 60:.1f} minutes. Held-out text: {figures}.")
    for sentence in done.notes:
        say(f"Note: {sentence}")
    say(f"Wrote {out}/best. Next: headstart finetune TRAIN --from {out} --out runs/clf")
    say(f"      or: {NEXT[done.objective].format(out)}")


def _hides(objective: str | None, start: Path | None) -> bool:
    """Whether a pretraining hides tokens; one that goes on from a run does what that run did."""
    if start is None:
        return objective in ("masked", "bert")
    from headstart.checkpoint import find, read_card

    return read_card(find(start)).task != "lm"

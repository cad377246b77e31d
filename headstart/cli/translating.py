"""Commands about translation: translator, which trains one, and translate, which uses it."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headstart.cli.app import Config, Force, Json, Overrides, app
from headstart.cli.reading import TextColumn as FileTextColumn
from headstart.cli.show import note, plain, say, say_json, say_json_line
from headstart.cli.training_bar import TrainingBar
from headstart.cli.training_options import Board, Device, Encoding, Minutes, Resume, Seed, Steps, as_overrides

if TYPE_CHECKING:
    from headstart.recipes.translate import Translated
    from headstart.recipes.translating.learning import TrainedTranslator
    from headstart.text.records import Reading

PAIRS = "SOURCE:TARGET, two files that match line by line, or one .tsv, .jsonl, .csv or .parquet."
Beam = Annotated[int, typer.Option(help="Translations followed at a time; 1 is greedy: fast, and a little worse.")]
SourceColumn = Annotated[
    str | None, typer.Option(help="Of pairs in a table: the column of the source.", show_default="source")
]
TargetColumn = Annotated[
    str | None, typer.Option(help="Of pairs in a table: the column of its translation.", show_default="target")
]
Penalty = Annotated[
    float | None,
    typer.Option(
        help="Of short translations: 0 ranks by probability alone, 2 favours long ones.",
        show_default="as chosen on validation",
    ),
]


@app.command()
def translator(
    train: Annotated[str, typer.Argument(metavar="PAIRS", help=PAIRS)],
    valid: Annotated[str, typer.Option(metavar="PAIRS", help="Pairs to choose the model on, in the same forms.")],
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    preset: Annotated[str, typer.Option(help="Start from these settings: translate-tiny, tiny, small or base.")] = (
        "translate-tiny"
    ),
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A pretrained run, whose body becomes the reader; it fixes shape and source tokenizer.",
        ),
    ] = None,
    tokenizer: Annotated[Path | None, typer.Option(help="Its folder or file; without it one is trained.")] = None,
    source_tokenizer: Annotated[Path | None, typer.Option(help="Another one for the source side.")] = None,
    separate: Annotated[
        bool, typer.Option("--separate", help="A tokenizer and a table of vectors for each language, nothing shared.")
    ] = False,
    smoothing: Annotated[float | None, typer.Option(help="Share of each target spread over all tokens.")] = None,
    minutes: Minutes = 0.0,
    epochs: Annotated[float, typer.Option(help="Stop after so many passes over the pairs.", show_default=False)] = 0.0,
    steps: Steps = 0,
    average: Annotated[int | None, typer.Option(help="Average so many models of the run's end; 1: none.")] = None,
    save_every: Annotated[int | None, typer.Option(help="Save the state every so many steps.")] = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
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
    """Train an encoder-decoder on pairs of sentences: it reads the source both ways and writes the target.

    Try: headstart translator train.en:train.de --valid valid.en:valid.de --minutes 30 --out runs/mt

    Worth a --set: train.decay=cosine (or inverse-sqrt), model.vocabulary=13000, translator.tokens=8192 (of a batch),
    translator.agreement=1.25 (better in the end, twice the time). OUT/run.toml lists all settings.
    """
    from dataclasses import asdict

    from headstart.cli.interrupted import saved_on_interrupt
    from headstart.errors import ConfigError
    from headstart.recipes.running.stopping import StopRule
    from headstart.recipes.settings import read_settings
    from headstart.recipes.translating.scene import is_of_the_body
    from headstart.recipes.translating.two_tongues import Given
    from headstart.recipes.translator import translator

    given = {
        "translator.smoothing": smoothing,
        "translator.average": average,
        "translator.vocabularies": "separate" if separate or source_tokenizer else None,
        "train.save_every": save_every,
        "reading.source_column": source_column,
        "reading.target_column": target_column,
        "reading.encoding": encoding,
    }
    settings = read_settings(preset, config, [*as_overrides(given), *(overrides or ())])
    if given["translator.vocabularies"] == "separate" != settings.translator.vocabularies:
        raise ConfigError("--separate and --source-tokenizer need translator.vocabularies=separate; leave that out")
    if start is not None and (fixed := [each for each in overrides or () if is_of_the_body(each)]):
        raise ConfigError(f"--from brings its own shape: leave out --set {' --set '.join(fixed)}")
    stop = StopRule(minutes=minutes or (10.0 if not (epochs or steps) else 0.0), epochs=epochs, steps=steps)
    with TrainingBar("translator") as bar, saved_on_interrupt(out):
        done = translator(
            train,
            valid,
            out,
            settings=settings,
            stop=stop,
            start=start,
            given=Given(tokenizer=tokenizer, source_tokenizer=source_tokenizer),
            seed=seed,
            device=device,
            resume=resume,
            force=force,
            tensorboard=tensorboard,
            say=note,
            watch=bar.watch,
            begin=bar.begin,
        )
    if as_json:
        say_json({**asdict(done), "ledger": done.ledger.to_json()})
        return
    tell_training(done)
    say(f'Wrote {out}/best. Next: echo "A sentence." | headstart translate {out}')
    say(f"      or: headstart evaluate {out} TEST_PAIRS")


def tell_training(done: "TrainedTranslator") -> None:
    """What a person wants to know of a training that is over."""
    say(
        f"{done.steps:,} steps, {done.tokens:,} tokens in {done.seconds / 60:.1f} minutes. Validation: "
        f"BLEU {done.scores['bleu']:.2f} (beam {done.beam}, length penalty {done.ranked.kept:g}), "
        f"{done.scores['bits_per_byte']:.3f} bits per byte."
    )
    if done.averaged is not None:
        found = done.averaged
        name = "BLEU with the usual length penalty" if found.figure == "bleu" else "loss"
        say(
            f"The mean of {len(found.steps)} models (steps {found.steps[0]:,} to {found.steps[-1]:,}) has a "
            f"{name} of {found.mean:.4g}, the best single one of {found.single:.4g}: "
            f"{'the mean' if found.kept else 'the single one'} is kept."
        )
    if done.ranked.bleu:
        tried = ", ".join(f"{penalty:g}: {bleu:.2f}" for penalty, bleu in done.ranked.bleu.items())
        say(f"BLEU of {done.ranked.sentences:,} sentences by length penalty ({tried}): {done.ranked.kept:g} is kept.")
    if done.warning:
        say(f"Note: {done.warning}")


@app.command()
def translate(
    run: Annotated[Path, typer.Argument(help="A run of `headstart translator`.")],
    file: Annotated[str, typer.Argument(help="A sentence a line, or a table; - for standard input.")] = "-",
    beam: Beam = 4,
    penalty: Penalty = None,
    best: Annotated[int, typer.Option(help="So many translations of each line, with their scores.")] = 1,
    long: Annotated[
        Literal["split", "refuse"], typer.Option(help="A line that is too long is translated in parts, or refused.")
    ] = "split",
    text_column: FileTextColumn = "text",
    encoding: Annotated[str, typer.Option(help="The encoding of the file.")] = "utf-8",
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Translate line by line: as many lines out as in, in the same order; a pipe is answered as it comes.

    Try: echo "Two dogs play in the snow." | headstart translate runs/mt

    The three best, with scores: headstart translate runs/mt text.txt --best 3
    """
    from headstart.recipes.translate import load_interpreter, translate_blocks
    from headstart.text.records import Reading

    reading = Reading(text_column=text_column, encoding=encoding)
    interpreter = load_interpreter(run, beam=beam, penalty=penalty, best=best, long=long, device=device)
    tell_which(run, interpreter.folder)
    blocks, unit = _blocks(run, file, reading)
    name = f"stdin {unit}" if file == "-" else f"{file} {unit}"
    for found in translate_blocks(interpreter, blocks, name):
        if found.parts > 1:
            where = f"{unit.capitalize()} {found.line:,}"
            note(f"{where} is longer than {interpreter.room:,} tokens: translated in {found.parts} parts.")
        _show(found, best, as_json)


def tell_which(run: Path, folder: Path) -> None:
    """A run that was stopped has no best model yet; its last one answers in its place."""
    if run != folder and not folder.name.startswith("best"):
        note(f"Note: {run} has no best/ yet, so {folder} is used; --resume its training to get one.")


def _blocks(run: Path, file: str, reading: "Reading") -> tuple[Iterator[Sequence[str]], str]:
    """A pipe as it comes, the lines of a file, or the texts of a table; and what they are called."""
    from headstart.errors import DataError
    from headstart.recipes.translate import in_blocks
    from headstart.text.readers import read_rows
    from headstart.text.reading.arriving import read_arriving
    from headstart.text.reading.opening import read_lines
    from headstart.text.reading.sources import TABLES, source_at

    if file == "-":
        return read_arriving(sys.stdin.buffer, reading.encoding), "line"  # type: ignore[arg-type]
    if " " in file and not Path(file).exists():
        raise DataError(f'{file}: no such file. To translate a sentence: echo "Two dogs." | headstart translate {run}')
    source = source_at(file)
    if source.form in TABLES:
        return in_blocks(row.text for row in read_rows(file, reading, labelled=False)), "row"
    return in_blocks(read_lines(source, reading)), "line"


def _show(found: "Translated", best: int, as_json: bool) -> None:
    if as_json:
        several = [vars(each) for each in found.found]
        line = {"line": found.line, "source": found.source, "translation": found.text, "found": several}
        say_json_line(line | {"parts": found.parts})
        return
    for each in found.found:
        print(f"{found.line}\t{each.score:.4f}\t{plain(each.text)}" if best > 1 else plain(each.text), flush=True)

"""Commands that use a trained model: predict and evaluate."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from headstart.cli.app import Json, app, given_options
from headstart.cli.reading import Documents, Encoding, LabelColumn, SourceColumn, TargetColumn, TextColumn
from headstart.cli.scoring_translation import evaluate_translator
from headstart.cli.show import say, say_json, say_json_line, table
from headstart.cli.training_options import Device
from headstart.cli.translating import Beam, Penalty

Run = Annotated[Path, typer.Argument(help="A fine-tuned run.")]

OF_CLASSIFIERS = {"--int8", "--text-column", "--label-column"}  # options of evaluate
OF_TRANSLATORS = {
    "--beam",
    "--penalty",
    "--tokenize",
    "--lowercase",
    "--against",
    "--source-column",
    "--target-column",
}


@app.command()
def predict(
    run: Run,
    file: Annotated[str, typer.Argument(help="Texts: a line each, or a table; - for standard input.")] = "-",
    abstain_below: Annotated[float, typer.Option(help="Leave the label empty where the model is less sure.")] = 0.0,
    text_column: TextColumn = "text",
    documents: Documents = "lines",
    encoding: Encoding = "utf-8",
    int8: Annotated[
        bool, typer.Option("--int8", help="Faster and a little off, on a CPU: evaluate --int8 says how much.")
    ] = False,
    device: Device = "auto",
) -> None:
    """Label texts: one JSON object a line, in the order of the texts.

    Try: echo "What a film." | headstart predict runs/clf
    """
    from headstart.errors import ConfigError
    from headstart.recipes.predict import predict_stream
    from headstart.text.readers import read_rows
    from headstart.text.records import Reading

    if not 0 <= abstain_below <= 1:
        raise ConfigError(f"--abstain-below {abstain_below}: a probability between 0 and 1 is needed")
    reading = Reading(text_column=text_column, documents=documents, encoding=encoding)
    for row, found in predict_stream(
        run, read_rows(file, reading, labelled=False), abstain_below=abstain_below, int8=int8, device=device
    ):
        line = {"label": found.label or None, "probability": round(found.probability, 6), "text": row.text}
        say_json_line(line | ({"text_b": row.text_b} if row.text_b else {}))


@app.command()
def evaluate(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(help="A fine-tuned run, or a translator.")],
    file: Annotated[str, typer.Argument(help="Labelled rows: a table, or TEXTS:LABELS. Pairs: SOURCE:TARGET.")],
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    encoding: Encoding = "utf-8",
    beam: Beam = 4,
    penalty: Penalty = None,
    tokenize: Annotated[
        Literal["13a", "intl", "char", "zh", "none"], typer.Option(help="How sacreBLEU cuts translations into words.")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Let BLEU and chrF ignore the case.")] = False,
    against: Annotated[Path | None, typer.Option(help="Another translator to be put beside, with a test.")] = None,
    int8: Annotated[bool, typer.Option("--int8", help="Also score the classifier as predict --int8 uses it.")] = False,
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Score a classifier on labelled rows, or a translator on pairs: sacreBLEU, chrF, exact match.

    Try: headstart evaluate runs/mt test.en:test.de --against runs/other
    """
    from headstart.checkpoint import find, read_card
    from headstart.errors import ConfigError
    from headstart.recipes.evaluate import evaluate_file
    from headstart.text.records import Reading

    reading = Reading(
        text_column=text_column,
        label_column=label_column,
        source_column=source_column,
        target_column=target_column,
        encoding=encoding,
    )
    translates = read_card(find(run)).task == "translate"
    if unfit := sorted(given_options(ctx) & (OF_CLASSIFIERS if translates else OF_TRANSLATORS)):
        what, other = ("a translator", "classifiers") if translates else ("a classifier", "translators")
        raise ConfigError(f"{', '.join(unfit)}: only for {other}, and {run} is {what}; leave out what is not for it")
    if translates:
        evaluate_translator(
            run,
            file,
            reading=reading,
            beam=beam,
            penalty=penalty,
            tokenize=tokenize,
            lowercase=lowercase,
            against=against,
            device=device,
            as_json=as_json,
        )
        return
    found = evaluate_file(run, file, reading, int8=int8, device=device)
    if as_json:
        say_json(asdict(found))
        return
    scores = found.scores
    say(
        f"{scores.texts:,} texts: accuracy {scores.accuracy:.4f} (the commonest class alone: {found.majority:.4f}), "
        f"macro-F1 {scores.macro_f1:.4f}, log-loss {scores.log_loss:.4f}, "
        f"calibration error {scores.calibration_error:.4f}."
    )
    if found.int8:
        say(
            f"In int8: accuracy {found.int8.accuracy:.4f} ({found.int8.accuracy - scores.accuracy:+.4f}), "
            f"{found.int8.changed:,} labels are others."
        )
    rows = [(label, *counts) for label, counts in zip(found.labels, scores.confusion)]
    table(["true \\ predicted", *found.labels], rows, numbers=range(1, len(found.labels) + 1))
    say(f"Next: headstart predict {run} FILE")

"""Commands that use a trained classifier: predict and evaluate."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from headstart.cli.app import Json, app
from headstart.cli.reading import Documents, Encoding, LabelColumn, TextColumn
from headstart.cli.show import say, say_json, say_json_line, table

Run = Annotated[Path, typer.Argument(help="A fine-tuned run.")]


@app.command()
def predict(
    run: Run,
    file: Annotated[str, typer.Argument(help="Texts: a line each, or a table; - for standard input.")] = "-",
    abstain_below: Annotated[float, typer.Option(help="Leave the label empty where the model is less sure.")] = 0.0,
    text_column: TextColumn = "text",
    documents: Documents = "lines",
    encoding: Encoding = "utf-8",
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
    for row, found in predict_stream(run, read_rows(file, reading, labelled=False), abstain_below=abstain_below):
        line = {"label": found.label or None, "probability": round(found.probability, 6), "text": row.text}
        say_json_line(line)


@app.command()
def evaluate(
    run: Run,
    file: Annotated[str, typer.Argument(help="Labelled rows: a table, or TEXTS:LABELS.")],
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    encoding: Encoding = "utf-8",
    as_json: Json = False,
) -> None:
    """Score a classifier on labelled rows."""
    from headstart.recipes.evaluate import evaluate_file
    from headstart.text.records import Reading

    reading = Reading(text_column=text_column, label_column=label_column, encoding=encoding)
    found = evaluate_file(run, file, reading)
    if as_json:
        say_json(asdict(found))
        return
    scores = found.scores
    say(
        f"{scores.texts:,} texts: accuracy {scores.accuracy:.4f} (the commonest class alone: {found.majority:.4f}), "
        f"macro-F1 {scores.macro_f1:.4f}, log-loss {scores.log_loss:.4f}, "
        f"calibration error {scores.calibration_error:.4f}."
    )
    rows = [(label, *counts) for label, counts in zip(found.labels, scores.confusion)]
    table(["true \\ predicted", *found.labels], rows, numbers=range(1, len(found.labels) + 1))

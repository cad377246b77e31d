"""Commands about text: tokenizer and check data."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from headstart.cli.app import Force, Json, Overrides, app, check
from headstart.cli.reading import Documents, Encoding, LabelColumn, SourceColumn, TargetColumn, TextColumn, reading_of
from headstart.cli.show import progress, say, say_json, table
from headstart.cli.training_options import LARGEST_SEED
from headstart.text.records import Reading


@app.command()
def tokenizer(
    corpus: Annotated[list[str], typer.Argument(help="Files or folders of text; - for standard input.")],
    out: Annotated[Path, typer.Option(help="The tokenizer folder to write.")],
    vocabulary: Annotated[int, typer.Option(help="How many ids it shall have.")] = 16_000,
    normalise: Annotated[
        Literal["none", "nfc", "nfkc"], typer.Option(help="Unicode form; none gives every text back unchanged.")
    ] = "none",
    text_column: TextColumn = "text",
    documents: Documents = "auto",
    encoding: Encoding = "utf-8",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Fixes the sample of a large corpus.")] = 0,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train a SentencePiece BPE tokenizer on a corpus: text in, same text out.

    Try: headstart tokenizer reviews.txt.gz --out tokenizer --vocabulary 8000
    """
    from headstart.recipes.tokenizer import open_corpus, train

    reading = reading_of(overrides, text_column=text_column, documents=documents, encoding=encoding)
    found = open_corpus(corpus, out, vocabulary=vocabulary, reading=reading, force=force)
    with progress("reading", found.bytes, "bytes") as bar:
        made = train(
            found, out, vocabulary=vocabulary, normalise=normalise, seed=seed, force=force, advance=bar.advance
        )
    if as_json:
        say_json(asdict(made))
        return
    figures = made.report
    say(
        f"{figures.vocabulary:,} ids from {made.texts:,} texts ({made.characters:,} characters): "
        f"{figures.characters_per_token:.2f} characters a token, {figures.unknown_rate:.2%} unknown, "
        f"{figures.byte_rate:.2%} spelt in bytes, {figures.never_used:,} pieces never used."
    )
    say(f"Longest pieces: {' '.join(figures.longest)}")
    for sentence in made.notes:
        say(f"Note: {sentence}")
    say(f"Wrote {out} ({made.hash[:12]}). Next: headstart pretrain CORPUS --tokenizer {out} --out runs/lm")


@check.command("data")
def check_data(
    corpus: Annotated[list[str] | None, typer.Option(help="The pretraining corpus; repeatable.")] = None,
    train: Annotated[str, typer.Option(help="Labelled rows to learn from: a table, or TEXTS:LABELS.")] = "",
    valid: Annotated[str, typer.Option(help="Labelled rows to choose on.")] = "",
    test: Annotated[str, typer.Option(help="Labelled rows to be scored on, once.")] = "",
    pairs: Annotated[
        bool, typer.Option("--pairs", help="They hold translations: SOURCE:TARGET, or a table with these columns.")
    ] = False,
    tokenizer: Annotated[Path | None, typer.Option(help="Also count tokens and unknown ones.")] = None,
    drop: Annotated[Path | None, typer.Option(help="Write cleaned copies into this new folder.")] = None,
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    documents: Documents = "auto",
    encoding: Encoding = "utf-8",
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Find what stands twice, what leaks into the test set, what is empty or labelled in two ways.

    Try: headstart check data --train train.csv --test test.csv

    Translations: headstart check data --pairs --train train.en:train.de --test test.en:test.de
    """
    from headstart.errors import DataError
    from headstart.recipes.check_data import check_data as recipe
    from headstart.recipes.check_data import name_inputs

    if not (corpus or train or valid or test):
        raise DataError("nothing to check: give --corpus, --train, --valid or --test")
    columns = {"text_column": text_column, "label_column": label_column}
    columns |= {"source_column": source_column, "target_column": target_column}
    reading = reading_of(overrides, documents=documents, encoding=encoding, **columns)
    if pairs:
        if corpus or drop or tokenizer:
            raise DataError("--pairs checks --train, --valid and --test; leave out --corpus, --tokenizer and --drop")
        _check_pairs({"train": train, "valid": valid, "test": test}, reading, as_json)
        return
    inputs = name_inputs(corpus or (), train, valid, test, reading)
    cutter = None
    if tokenizer is not None:
        from headstart.text.tokenizer import Tokenizer

        cutter = Tokenizer.load(tokenizer)
    with progress("reading", sum(each.bytes for each in inputs), "bytes") as bar:
        found = recipe(inputs, tokenizer=cutter, drop=drop, advance=bar.advance)
    if as_json:
        say_json(found.to_json())
        return
    _show_parts(found.parts)
    _show_twins(found.within, found.overlaps)
    _show_examples(found.examples)
    unlabelled = [name for name, facts in found.parts.items() if name != "corpus" and not facts.get("labels")]
    if unlabelled:
        say(f"Note: no labels were read in {', '.join(unlabelled)} (--label-column {label_column}).")
    for sentence in found.notes:
        say(f"Note: {sentence}")
    for sentence in found.warnings:
        say(f"Warning: {sentence}")
    if not found.warnings:
        say("Nothing to worry about.")
    if drop is not None:
        say(f"Wrote cleaned copies into {drop}.")


def _check_pairs(parts: dict[str, str], reading: Reading, as_json: bool) -> None:
    from headstart.recipes.check_pairs import check_pairs

    found = check_pairs(parts, reading)
    if as_json:
        say_json(found.to_json())
        return
    for side, report in found.sides.items():
        say(f"{side}:")
        _show_twins(report.within, report.overlaps)
        _show_examples(report.examples)
    for sentence in found.notes:
        say(f"Note: {sentence}.")
    for sentence in found.warnings:
        say(f"Warning: {sentence}")
    if not found.warnings:
        say("Nothing to worry about.")


def _show_parts(parts: dict[str, dict[str, Any]]) -> None:
    rows = []
    for name, facts in parts.items():
        labels = ", ".join(f"{label}: {count:,}" for label, count in list(facts.get("labels", {}).items())[:6])
        words = facts.get("words", {})
        unknown = f"{facts['unknown']['rate']:.2%}" if "unknown" in facts else ""
        lengths = [f"{words[name]:,}" if words else "" for name in ("median", "p95", "largest")]
        rows.append((name, f"{facts['rows']:,}", f"{facts['empty']:,}", *lengths, unknown, labels))
    columns = ["part", "rows", "empty", "median words", "95 % below", "longest", "unknown", "labels"]
    table(columns, rows, numbers=range(1, 7))


def _show_twins(within: dict[str, dict[str, int]], overlaps: dict[str, dict[str, int]]) -> None:
    named = {f"within {name}": counts for name, counts in within.items()}
    for name, counts in overlaps.items():
        first, second = name.split("-")
        named[f"{second} rows in {first}"] = counts
    rows = [(name, *(f"{counts[kind]:,}" for kind in ("exact", "distinct", "near"))) for name, counts in named.items()]
    say()
    table(["duplicates", "exact rows", "distinct texts", "near rows"], rows, numbers=[1, 2, 3])
    say()


def _show_examples(examples: dict[str, Any]) -> None:
    """One example for each kind of finding; --json has more."""
    for where, kinds in examples.get("overlaps", {}).items():
        for kind, pairs in kinds.items():
            if pairs:
                first, second = pairs[0]["first"], pairs[0]["second"]
                places = f"{first['file']}:{first['line']} and {second['file']}:{second['line']}"
                say(f"{where}, {kind}: {places}\n    {second['text']}")
    say()

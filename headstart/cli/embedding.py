"""Commands that make vectors: embed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headstart.cli.app import Force, Json, app
from headstart.cli.reading import Documents, Encoding, TextColumn
from headstart.cli.show import note, progress, say, say_json, say_json_line
from headstart.errors import ConfigError

if TYPE_CHECKING:
    from headstart.recipes.embed import Embedded
    from headstart.recipes.neighbours import Neighbours
    from headstart.text.records import Reading, Row

POOLED = {"first": "at <cls>", "mean": "the mean of their tokens", "last": "at their last token"}
APART = 0.1  # a silhouette below it: two-means finds two groups in anything


@app.command()
def embed(
    run: Annotated[Path, typer.Argument(help="Any run: causal, masked, bert or a classifier.")],
    file: Annotated[str, typer.Argument(help="Texts: a line each, or a table; - for standard input.")] = "-",
    of: Annotated[Literal["texts", "words"], typer.Option(help="A vector for each text, or for each word.")] = "texts",
    pooling: Annotated[
        Literal["auto", "cls", "mean", "last"],
        typer.Option(
            help="Which token a vector is read at, or their mean. auto: what a classifier's head reads, "
            "else the mean; for words of a causal run the last piece."
        ),
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(show_default=False, help="A .npy, .parquet or .jsonl file; else JSON lines.")
    ] = None,
    neighbours: Annotated[
        str, typer.Option(metavar="WORD", help="Show the uses of a word in context, like with like.")
    ] = "",
    groups: Annotated[int, typer.Option(help="With --neighbours: how many groups of uses.")] = 2,
    nearest: Annotated[int, typer.Option(help="With --neighbours: so many uses beside the most typical one.")] = 8,
    uses: Annotated[int, typer.Option(help="With --neighbours: look at so many uses, the first of the file.")] = 1_000,
    device: Annotated[str, typer.Option(help="cpu, cuda or mps.")] = "cpu",
    text_column: TextColumn = "text",
    documents: Documents = "lines",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Turn texts, or each word in its context, into vectors.

    Try: headstart embed runs/masked reviews.txt --out vectors.npy

    Row n of the .npy is text n, counted from 0. With --of words a .jsonl stands beside it:
    the number of the text, the word, and its span of characters (start, end).

    A text longer than the model's context is cut for a vector of the text,
    and read in overlapping windows for vectors of words.

    One word, several meanings: headstart embed runs/masked reviews.txt --neighbours livre
    """
    from headstart.text.records import Reading

    reading = Reading(text_column=text_column, documents=documents, encoding=encoding)
    if neighbours:
        if out is not None:
            raise ConfigError("--neighbours shows uses and writes no file; leave --out away, or take --of words --out")
        from headstart.recipes.neighbours import find_neighbours

        with _rows(file, reading) as rows:
            found = find_neighbours(
                run, rows, neighbours, groups=groups, nearest=nearest, most=uses, pooling=pooling, device=device
            )
        say_json(asdict(found)) if as_json else _show_groups(found, nearest)
        return
    if out is None:
        from headstart.recipes.embed import embed_lines
        from headstart.text.readers import read_rows

        rows = read_rows(file, reading, labelled=False)
        for line in embed_lines(run, rows, of=of, pooling=pooling, device=device):
            say_json_line(line)
        return
    from headstart.recipes.embed import embed as recipe

    with _rows(file, reading) as rows:
        written = recipe(run, rows, out, of=of, pooling=pooling, inputs=_files(file), force=force, device=device)
    say_json(asdict(written)) if as_json else _sum_up(written, run, file)


@contextmanager
def _rows(file: str, reading: "Reading") -> Iterator[Iterator["Row"]]:
    """The texts, with a bar for the bytes that were read of them."""
    from headstart.text.readers import read_rows

    files = _files(file)
    size = sum(path.stat().st_size for path in files) if all(path.is_file() for path in files) else None
    with progress("reading", size, "bytes") as bar:
        yield read_rows(file, reading, labelled=False, advance=bar.advance)


def _files(spec: str) -> list[Path]:
    from headstart.text.reading.parallel import split_spec

    return [Path(half) for half in split_spec(spec)]


def _sum_up(made: "Embedded", run: Path, file: str) -> None:
    what = "word" if made.of == "words" else "text"
    which = POOLED[made.pooling] if made.of == "texts" else POOLED[made.pooling].replace("token", "piece")
    say(f"{made.vectors:,} vectors of {made.width} numbers, one for each {what} of {made.texts:,} texts: {which}.")
    if made.long:
        how = "cut" if made.of == "texts" else "read in overlapping windows"
        say(f"{made.long:,} texts are longer than the model's context: {how}.")
    say(f"Wrote {' and '.join(map(str, made.written))}")
    if made.of == "words":
        say(f"Next: headstart embed {run} {file} --neighbours WORD")
    else:
        say(f"Next, for each word: headstart embed {run} {file} --of words --out words.npy")


def _show_groups(found: "Neighbours", nearest: int) -> None:
    for number, group in enumerate(found.groups, 1):
        uses = "1 use" if len(group.members) == 1 else f"{len(group.members):,} uses, mean cosine {group.within:.3f}"
        say(f"{'' if number == 1 else chr(10)}Group {number}: {uses}")
        for place in group.members[: nearest + 1]:
            use = found.uses[place]
            say(f"  {use.likeness:6.3f}  {use.before:>40}[{use.word}]{use.after}")
        if len(group.members) > nearest + 1:
            say(f"         and {len(group.members) - nearest - 1:,} more (--nearest N, or --json for all)")
    say("\nThe number is the cosine with the first line of the group, its most typical use.")
    if len(found.groups) > 1:
        verdict = "they hardly differ: one meaning, or a model that can't tell two apart"
        verdict = "they are apart" if found.silhouette >= APART else verdict
        say(
            f"Between groups the mean cosine is {found.between:.3f}; silhouette {found.silhouette:.2f} "
            f"(0 no groups, 1 the most): {verdict}."
        )
    if found.more:
        note(f"Only the first {len(found.uses):,} uses were looked at; --uses N for more.")

"""Commands that look without training: bill, costs, draw, check model, import."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from headstart.cli.app import Config, Force, Json, Overrides, Preset, app, check, draw
from headstart.cli.show import number, progress, say, say_json, table

if TYPE_CHECKING:
    from headstart.model.shape import Shape
    from headstart.recipes.paper_run import PaperRun

TaskName = Literal["lm", "classify", "masked", "bert", "translate"]
Out = Annotated[Path, typer.Option("--out", help="Where the picture goes: .svg, .png or .pdf.")]


@app.command()
def bill(
    preset: Preset = "tiny",
    task: Annotated[TaskName, typer.Option(help="Which model is billed.")] = "lm",
    batch: Annotated[int, typer.Option(help="Texts in a batch, for the memory.")] = 16,
    length: Annotated[int, typer.Option(help="Tokens in a text, for the memory and the work.")] = 128,
    kernel: Annotated[int, typer.Option(help="Kernel width of the convolution that attention is compared with.")] = 3,
    classes: Annotated[int, typer.Option(help="Classes of a classifier.")] = 2,
    probe: Annotated[bool, typer.Option(help="Of the paper's base translator: measure here what its run took.")] = True,
    config: Config = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """What a model costs, before it is trained: parameters to the unit, work, memory.

    Try: headstart bill --preset lab --task lm
    """
    from headstart.recipes.bill import draw_up
    from headstart.recipes.settings import read_settings

    shape = read_settings(preset, config, overrides or ()).model
    costs = draw_up(shape, task, rows=batch, length=length, kernel=kernel, classes=classes)
    paper = _paper(shape, task) if probe else None
    if as_json:
        say_json(costs.to_json() | ({"paper": vars(paper)} if paper else {}))
        return
    rows: list[tuple[object, ...]] = [
        (f"  {line.part}" if line.subtotal else line.part, line.formula, f"{line.parameters:,}") for line in costs.lines
    ]
    table(["part", "formula", "parameters"], [*rows, ("total", "", f"{costs.total:,}")], numbers=[2])
    say(f"\nThe model built from this shape has {costs.built:,}: the same.")
    unit = "pair of tokens" if task == "translate" else "token"
    say(
        f"Work per {unit} at length {length}: {number(costs.work.forward)}FLOP forward, "
        f"{number(costs.work.training)}FLOP in training; neither depends on the number of heads."
    )
    memory: dict[str, int] = {**vars(costs.memory), "total": costs.memory.total}
    shown = ", ".join(f"{name} {size / 1e6:,.0f} MB" for name, size in memory.items())
    say(f"Memory while training {batch} × {length} tokens: {shown}.")
    kinds = "; ".join(f"{kind} {formula} = {number(n)}" for kind, (formula, n) in costs.layer_costs.items())
    say(f"One layer over n = {length}, d = {shape.width}, k = {kernel}: {kinds}.")
    for line in costs.advice:
        say(f"Advice: {line}")
    if paper:
        _tell_paper(paper)


@app.command()
def costs(
    out: Annotated[Path | None, typer.Option(help="Draw it here: .svg, .png or .pdf.")] = None,
    as_json: Json = False,
) -> None:
    """Count and time attention, recurrence and convolution over growing n, d and k, and fit the exponents.

    Also times one masked pass over a text against n sequential passes with the same outputs.
    Takes about half a minute.
    """
    from headstart.recipes.costs import Sizes, measure_costs

    with progress("measuring", Sizes().measurements) as bar:
        found = measure_costs(bar.advance, out=out)
    if as_json:
        say_json(found.to_json())
        return
    rows = [
        (curve.layer, curve.grows, f"{curve.counted:.2f}", f"{curve.measured:.2f}", _range(curve.sizes))
        for curve in found.curves
    ]
    table(["layer", "grows", "exponent counted", "exponent timed", "sizes"], rows, numbers=[2, 3])
    longest = found.passes[-1]
    say(
        f"\nOne masked pass over {longest.tokens} tokens is {longest.times_faster:.0f} times as fast as "
        f"{longest.tokens} sequential passes; their outputs differ by at most {longest.difference:.0e}."
    )
    say(f"Wrote {out}" if out else "Draw it: headstart costs --out costs.svg")


@draw.command("mask")
def draw_mask(
    out: Out,
    objective: Annotated[
        Literal["causal", "masked", "bert", "all", "translate"],
        typer.Option(help="How the body is pretrained; all: side by side; translate: a translator's three masks."),
    ] = "causal",
    length: Annotated[int, typer.Option(help="Tokens in the text.")] = 8,
) -> None:
    """Who may look at whom: the square mask of a causal body, or what one that reads both ways may see.

    Try: headstart draw mask --objective all --out masks.svg
    """
    if objective == "translate":
        from headstart.recipes.drawing.translator_masks import draw_translator_masks

        draw_translator_masks(out, length=length)
    else:
        from headstart.recipes.drawing.objective_masks import draw_objective

        draw_objective(out, objective, length=length)
    say(f"Wrote {out}")


@draw.command("positions")
def draw_positions(
    out: Out,
    length: Annotated[int, typer.Option(help="Positions shown.")] = 100,
    width: Annotated[int, typer.Option(help="Width of the encoding.")] = 128,
) -> None:
    """The sinusoidal encoding, and how alike two positions are by their distance."""
    from headstart.recipes.draw import draw_positions as recipe

    recipe(out, length=length, width=width)
    say(f"Wrote {out}")


@draw.command("attention")
def draw_attention(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    out: Out,
    layer: Annotated[int, typer.Option(help="Which layer, counted from 1; the last one by default.")] = 0,
    beside: Annotated[list[Path] | None, typer.Option(help="Another run that reads the same text; repeatable.")] = None,
    head: Annotated[
        int, typer.Option(help="Only this head, counted from 1; all of them by default. Not of a translator.")
    ] = 0,
) -> None:
    """Where each head of a layer looks, with the tokens on the axes; of a translator, the words read for each written.

    Two objectives: headstart draw attention runs/lm "A text" --beside runs/masked --head 1 --out heads.svg
    """
    if beside or head:
        from headstart.recipes.drawing.beside import draw_beside

        draw_beside([run, *(beside or ())], text, out, layer=layer, head=head)
    else:
        from headstart.recipes.drawing.attention import draw_attention as recipe

        recipe(run, text, out, layer=layer)
    say(f"Wrote {out}")


@check.command("model")
def check_model(
    run: Annotated[Path, typer.Argument(help="A run folder, or one of its checkpoints.")],
    device: Annotated[str, typer.Option(help="cpu, cuda or mps.")] = "cpu",
    as_json: Json = False,
) -> None:
    """Does the model see the future? Does padding, the batch or the cache change what it says?

    Exit code 1 if one check fails.
    """
    from headstart.recipes.check_model import check_run

    checks = check_run(run, device)
    if as_json:
        say_json([vars(one) for one in checks])
    else:
        words = {True: "holds", False: "FAILS", None: "does not apply"}
        table(["", "check", "detail"], [(words[one.passed], one.name, one.detail) for one in checks])
    if any(one.passed is False for one in checks):
        raise typer.Exit(1)


@app.command("import")
def import_checkpoint(
    file: Annotated[Path, typer.Argument(metavar="LAB.pt", help="A checkpoint of the source lab.")],
    out: Annotated[Path, typer.Option(help="The run folder to write.")],
    preset: Preset = "lab",
    tokenizer: Annotated[Path | None, typer.Option(help="The tokenizer it was trained with.")] = None,
    config: Config = None,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Turn a checkpoint of the source lab (.pt) into a run folder; its pickle is read as plain tensors only."""
    from headstart.recipes.import_lab import import_lab
    from headstart.recipes.running.occupied import refuse_occupied
    from headstart.recipes.settings import read_settings
    from headstart.text.tokenizer import Tokenizer

    refuse_occupied(out, force=force)
    shape = read_settings(preset, config, overrides or ()).model
    card = import_lab(file, shape, out, Tokenizer.load(tokenizer) if tokenizer else None, force=force)
    written: dict[str, Any] = {"written": str(out / "best"), "task": card.task, "parent": card.parent}
    if as_json:
        say_json(written)
        return
    say(f"Wrote {out}: {card.task}, from {card.parent}.\nNext: headstart check model {out}")


def _paper(shape: "Shape", task: str) -> "PaperRun | None":
    from headstart.recipes.paper_run import is_the_papers, paper_run

    return paper_run(shape) if task == "translate" and is_the_papers(shape) else None


def _tell_paper(paper: "PaperRun") -> None:
    """What a reader of the paper asks: the number of parameters, and how long it would take here."""
    say(
        f"\nThe paper gives {paper.their_parameters / 1e6:.0f} million for its base model. This count is "
        f"{abs(paper.their_parameters - paper.parameters) / 1e6:.1f} million below that; the paper does not itemise "
        "its figure, so no cause is claimed."
    )
    say(
        f"Its run: 100,000 steps of 25,000 source and 25,000 target tokens, 12 hours on 8 GPUs. Counted, for sentences "
        f"of {paper.length} tokens: {paper.flops:.1e} FLOP (the paper, from GPU hours: {paper.their_flops:.1e}). "
        f"This machine reaches {number(paper.speed)}FLOP/s on this model, the optimiser aside, so it would take "
        f"{paper.days:,.0f} days here."
    )


def _range(sizes: tuple[int, ...]) -> str:
    return f"{sizes[0]:,} to {sizes[-1]:,}"

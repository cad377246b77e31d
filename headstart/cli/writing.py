"""Commands that write text: generate."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headstart.cli.app import Json, app
from headstart.cli.reading import Encoding
from headstart.cli.show import note, plain, say_json_line
from headstart.cli.training_options import LARGEST_SEED
from headstart.errors import ConfigError

if TYPE_CHECKING:
    from headstart.recipes.generate import Part, Written

Prompt = Annotated[
    str | None, typer.Argument(show_default=False, help='How the text begins; "" lets the model begin it.')
]
PromptFile = Annotated[
    str, typer.Option(metavar="FILE", show_default=False, help="Many prompts, one a line, or - for a pipe.")
]


@app.command()
def generate(
    run: Annotated[Path, typer.Argument(help="The run folder of a causal language model.")],
    prompt: Prompt = None,
    prompts: PromptFile = "",
    tokens: Annotated[int, typer.Option(help="Stop after so many tokens, if the text has not ended before.")] = 50,
    temperature: Annotated[float, typer.Option(help="Below 1: more careful. Above: more daring. 0: greedy.")] = 0.8,
    top_k: Annotated[int, typer.Option(help="Choose among so many of the likeliest tokens; 0 for all.")] = 40,
    top_p: Annotated[float, typer.Option(help="Choose among the likeliest tokens that share this probability.")] = 0.95,
    greedy: Annotated[bool, typer.Option("--greedy", help="Always the likeliest token: no chance, no seed.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The same seed gives the same text.")] = 0,
    samples: Annotated[int, typer.Option(help="So many texts for each prompt.")] = 1,
    encoding: Encoding = "utf-8",
    device: Annotated[str, typer.Option(help="cpu, cuda or mps.")] = "cpu",
    as_json: Json = False,
) -> None:
    """Write on from a prompt, token by token, with a model made by `headstart pretrain`.

    Try: headstart generate runs/lm "Ce livre est" --tokens 30

    Three others: headstart generate runs/lm "Ce livre est" --samples 3 --seed 7

    For a program: headstart generate runs/lm --prompts prompts.txt --json > texts.jsonl
    """
    from headstart.config import build
    from headstart.generate.choose import Sampling
    from headstart.recipes.generate import generate as recipe

    settings = {"temperature": 0.0 if greedy else temperature, "top_k": top_k, "top_p": top_p}
    sampling = build(Sampling, settings, "headstart generate")
    beginnings = _beginnings(prompt, prompts, encoding)
    parts = recipe(run, beginnings, tokens=tokens, sampling=sampling, seed=seed, samples=samples, device=device)
    if as_json:
        for part in parts:
            if part.whole:
                say_json_line(_table(part.whole))
        return
    started = time.monotonic()
    texts = _show(parts, beginnings, samples)
    _sum_up(texts, time.monotonic() - started, tokens)


def _beginnings(prompt: str | None, file: str, encoding: str) -> list[str]:
    if (prompt is None) == (not file):
        raise ConfigError('give one PROMPT, such as "Once upon" or "" for none, or --prompts FILE with one a line')
    if prompt is not None:
        if prompt.endswith(" "):
            note("The prompt ends in a space. Tokens bring their own: without it the text is mostly better.")
        return [prompt]
    from headstart.text.readers import read_rows
    from headstart.text.records import Reading

    return [row.text for row in read_rows(file, Reading(encoding=encoding), labelled=False)]


def _show(parts: Iterable["Part"], prompts: list[str], samples: int) -> list["Written"]:
    """Each text after its prompt, while it is written."""
    texts: list[Written] = []
    many = len(prompts) * samples
    begun = -1
    for part in parts:
        if part.number > begun:
            begun = part.number
            heading = f"── {begun + 1} of {many} ──\n" if many > 1 else ""
            print(heading + plain(prompts[begun // samples]), end="")
        print(plain(part.text), end="", flush=True)
        if part.whole:
            texts.append(part.whole)
            print(flush=True)
    return texts


def _sum_up(texts: list["Written"], seconds: float, tokens: int) -> None:
    written = sum(text.tokens for text in texts)
    reasons = {
        "eos": "ended by the model",
        "length": f"cut at --tokens {tokens}",
        "context": "cut at the model's last learned position",
    }
    counts = {reason: sum(text.stopped == reason for text in texts) for reason in reasons}
    found = [f"{reasons[reason]}: {count}" for reason, count in counts.items() if count]
    why = reasons[texts[0].stopped] if len(texts) == 1 else ", ".join(found)
    note(f"\n{written:,} tokens, {written / max(seconds, 1e-9):,.0f} a second; {why}.")
    if any(text.beyond for text in texts):
        note("Some of it lies beyond the longest text of the training (model.context), where quality may fall.")


def _table(text: "Written") -> dict[str, object]:
    return {"prompt": text.prompt, "text": text.text, "tokens": text.tokens, "stopped": text.stopped}

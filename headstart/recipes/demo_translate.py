"""The translator's story on numbers and dates written out: pairs, a training of minutes, a test on unseen values."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.evaluate.translation import exact_matches
from headstart.recipes.bill import draw_up
from headstart.recipes.check_pairs import check_pairs
from headstart.recipes.compare import Progress
from headstart.recipes.demos.written_out import TEST, examples, write_values
from headstart.recipes.drawing.attention import draw_attention
from headstart.recipes.running.occupied import refuse_occupied
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.settings import read_settings
from headstart.recipes.translate import in_blocks, load_interpreter, translate_blocks
from headstart.recipes.translating.pair_files import read_all
from headstart.recipes.translator import translator

SHAPE = [
    "model.vocabulary=600",
    "model.depth=2",
    "model.hidden=256",
    "model.positions=rotary",
    "model.dropout=0.0",
    "model.embedding_dropout=0.0",
    "train.rate=2e-3",
    "train.decay=cosine",
    "translator.smoothing=0.0",
    "translator.tokens=1024",
    "translator.bleu_sentences=100",
    "translator.choice=held_out_loss",
    "translator.average=1",
    "translator.penalties=[0.6]",
]
Tell = Callable[[str, Any], None]
Show = Callable[[str], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class TranslationDemo:
    """Shares of unseen values that were translated without a fault, and a few of those that were not."""

    run: Path
    picture: Path
    values: int
    exact: float
    numbers: float
    dates: float
    mistakes: tuple[tuple[str, str, str], ...]  # source, written, reference
    shown: tuple[tuple[str, str], ...]


def demo_translate(
    out: Path,
    *,
    minutes: float,
    show: Show,
    tell: Tell,
    say: Callable[[str], None],
    seed: int = 0,
    resume: bool = False,
    force: bool = False,
) -> TranslationDemo:
    """`tell(stage, result)` hears what each stage found; `show(title)` watches the training."""
    refuse_occupied(out, force=force, resume=resume)
    settings = read_settings("translate-tiny", None, SHAPE)
    data = write_values(out / "data")
    tell("pairs", data)
    parts = {"train": str(data.train), "valid": str(data.valid), "test": str(data.test)}
    tell("pair check", check_pairs(parts, settings.reading))
    tell("translator bill", draw_up(settings.model, "translate", rows=32, length=16))
    with show("translator") as progress:
        done = translator(
            str(data.train),
            str(data.valid),
            out / "translator",
            settings=settings,
            stop=StopRule(minutes=minutes),
            seed=seed,
            resume=resume,
            force=force,
            say=say,
            watch=progress.watch,
            begin=progress.begin,
        )
    tell("translator", done)
    pairs = read_all(str(data.test), settings.reading)
    interpreter = load_interpreter(out / "translator")
    written = [
        found.text for found in translate_blocks(interpreter, in_blocks(pair.source_text for pair in pairs), "pair")
    ]
    right = exact_matches(written, [pair.target_text for pair in pairs])
    wrong = [(p.source_text, w, p.target_text) for p, w, good in zip(pairs, written, right) if not good]
    shown = tuple((found.source, found.text) for found in interpreter.translate(list(examples())))
    picture = out / "attention.svg"
    draw_attention(out / "translator", shown[-1][0], picture)
    return TranslationDemo(
        run=out / "translator",
        picture=picture,
        values=len(pairs),
        exact=float(right.mean()),
        numbers=float(right[:TEST].mean()),
        dates=float(right[TEST:].mean()),
        mistakes=tuple(wrong[:3]),
        shown=shown,
    )

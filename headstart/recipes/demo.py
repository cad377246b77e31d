"""The whole story on film reviews that come with the install: raw text to a report, in minutes."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from headstart.recipes.bill import draw_up
from headstart.recipes.check_data import check_data, name_inputs
from headstart.recipes.compare import Compared, Progress, compare
from headstart.recipes.comparing.plan import Request
from headstart.recipes.demos.reviews import write_demo_data
from headstart.recipes.generate import generate
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.occupied import refuse_occupied
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.settings import read_settings
from headstart.recipes.tokenizer import open_corpus, train

SHAPE = [
    "model.vocabulary=8000",
    "model.depth=2",
    "model.heads=2",
    "model.context=384",
    "data.length=128",
    "train.rate=2e-3",
    "finetune.epochs=3",
    "finetune.pooling=mean",
    "finetune.rate=1e-3",
    "finetune.scratch_rate=1e-3",
]
PROMPT = "This film is"
Tell = Callable[[str, Any], None]
Show = Callable[[str], AbstractContextManager[Progress]]


def demo(
    out: Path,
    *,
    minutes: float,
    show: Show,
    tell: Tell,
    say: Callable[[str], None],
    seeds: int = 3,
    seed: int = 0,
    jobs: int = 1,
    resume: bool = False,
    force: bool = False,
) -> Compared:
    """`tell(stage, result)` hears what each stage found; `show(title)` watches a training."""
    refuse_occupied(out, force=force, resume=resume)
    settings = read_settings("tiny", None, SHAPE)
    data = write_demo_data(out / "data")
    tell("data", data)
    inputs = name_inputs([str(data.corpus)], str(data.train), str(data.valid), str(data.test), settings.reading)
    tell("check", check_data(inputs))
    if not (resume and (out / "tokenizer").is_dir()):
        corpus = open_corpus([data.corpus], out / "tokenizer", vocabulary=settings.model.vocabulary, force=True)
        tell("tokenizer", train(corpus, out / "tokenizer", vocabulary=settings.model.vocabulary, force=True))
    tell("bill", draw_up(settings.model, "lm", rows=settings.data.rows, length=settings.data.length))
    with show("pretraining") as progress:
        done = pretrain(
            [str(data.corpus)],
            out / "lm",
            settings=settings,
            stop=StopRule(minutes=minutes),
            tokenizer=out / "tokenizer",
            seed=seed,
            resume=resume,
            force=force,
            say=say,
            watch=progress.watch,
            begin=progress.begin,
        )
    tell("pretrained", done)
    written = "".join(part.text for part in generate(out / "lm", [PROMPT], tokens=40, seed=seed))
    tell("written", f"{PROMPT}{written}")
    request = Request(
        train=str(data.train),
        valid=str(data.valid),
        test=str(data.test),
        run=out / "lm",
        out=out / "compare",
        settings=settings,
        seeds=tuple(range(seed, seed + seeds)),
        jobs=jobs,
        command=f"headstart demo --minutes {minutes:g} --seed {seed} --out {out}",
    )
    return compare(request, resume=resume, force=force, say=say, show=show)

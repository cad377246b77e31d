"""Write on from prompts with a causal language model, and hand the text over while it is written."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.checkpoint import Saved, load
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.generate.choose import Chooser, Sampling, never_written
from headstart.generate.search import Choice, Stop, Token, prepare, room
from headstart.generate.search import generate as search
from headstart.generate.spelling import Speller
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import choose_device

ROWS, CELLS = 32, 1 << 24  # most texts written at once, and most cells of their square masks: 64 MB
INSTEAD = {
    "classify": "it names classes: headstart predict {run} FILE",
    "masked": 'it fills gaps: headstart fill {run} "A text with a <mask>."',
    "bert": 'it fills gaps: headstart fill {run} "A text with a <mask>."',
    "translate": "it translates: headstart translate {run} FILE",
}


@dataclass(frozen=True)
class Written:
    """What was written after a prompt, and why it stopped. `beyond`: it is longer than any text of the training."""

    prompt: str
    text: str
    tokens: int
    stopped: Stop
    beyond: bool


@dataclass(frozen=True)
class Part:
    """Some more of text `number`, counted from 0; `whole` comes with the last part."""

    number: int
    text: str
    whole: Written | None = None


@dataclass(frozen=True)
class _Job:
    """One text to write."""

    number: int
    prompt: str
    ids: list[int]
    seed: int


def generate(
    run: Path,
    prompts: Sequence[str],
    *,
    tokens: int = 50,
    sampling: Sampling | None = None,
    seed: int = 0,
    samples: int = 1,
    device: str = "cpu",
) -> Iterator[Part]:
    """Text after text, `samples` of them for each prompt, each as it grows. All is checked before anything is written.

    A text depends on its prompt, the seed and which sample it is, but not on the prompts around it.
    """
    for name, value in (("tokens", tokens), ("samples", samples)):
        if value < 1:
            raise ConfigError(
                f"--{name} {value}: at least 1 is needed, such as --{name} {50 if name == 'tokens' else 3}"
            )
    saved = load(run, choose_device(device))
    model, tokenizer = _language_model(saved, run), saved.tokenizer
    texts = [[tokenizer.sos, *ids] for ids in tokenizer.encode_batch(prompts)]
    _check_fit(texts, prompts, saved.card.shape)
    jobs = [
        _Job(number, prompt, ids, _seed(seed, sample, ids))
        for number, (prompt, ids, sample) in enumerate(
            (prompt, ids, sample) for prompt, ids in zip(prompts, texts) for sample in range(samples)
        )
    ]
    chooser = (sampling or Sampling()).chooser(never_written(tokenizer, saved.card.shape.vocabulary))
    choice = prepare(model.head, chooser, tokens * len(jobs))
    return _in_turn(
        part
        for batch in _batches(jobs)
        for part in _write(model, tokenizer, batch, tokens=tokens, chooser=chooser, choice=choice)
    )


def _write(
    model: LanguageModel, tokenizer: Tokenizer, jobs: list[_Job], *, tokens: int, chooser: Chooser, choice: Choice
) -> Iterator[Part]:
    """A batch of texts, their parts in the order in which they come."""
    drafts = [_Draft(job, Speller(tokenizer, job.ids), model.body.shape.context) for job in jobs]
    prompts, seeds = [job.ids for job in jobs], [job.seed for job in jobs]
    found = search(model, prompts, tokens=tokens, chooser=chooser, seeds=seeds, choice=choice)
    for token in found:
        yield drafts[token.row].add(token)


class _Draft:
    """A text that is being written."""

    def __init__(self, job: _Job, speller: Speller, context: int):
        self.job, self.speller, self.context = job, speller, context
        self.parts: list[str] = []
        self.tokens = 0

    def add(self, token: Token) -> Part:
        text = ""
        if token.stopped != "eos":
            self.tokens += 1
            text = self.speller.add(token.id)
        if not token.stopped:
            self.parts.append(text)
            return Part(self.job.number, text)
        whole = "".join([*self.parts, text])
        beyond = len(self.job.ids) + self.tokens > self.context + 1
        return Part(self.job.number, text, Written(self.job.prompt, whole, self.tokens, token.stopped, beyond))


def _in_turn(parts: Iterable[Part]) -> Iterator[Part]:
    """Text by text: the first one that is not finished streams, what comes for later ones waits."""
    turn = 0
    waiting: defaultdict[int, list[Part]] = defaultdict(list)
    for part in parts:
        waiting[part.number].append(part)
        while ready := waiting.pop(turn, None):
            yield from ready
            if ready[-1].whole is None:
                break
            turn += 1


def _batches(jobs: list[_Job]) -> Iterator[list[_Job]]:
    batch: list[_Job] = []
    longest = 0
    for job in jobs:
        longest = max(longest, len(job.ids))
        if batch and (len(batch) == ROWS or longest**2 * (len(batch) + 1) > CELLS):
            yield batch
            batch, longest = [], len(job.ids)
        batch.append(job)
    if batch:
        yield batch


def _language_model(saved: Saved, run: Path) -> LanguageModel:
    if not isinstance(saved.model, LanguageModel):
        instead = INSTEAD[saved.card.task].format(run=run)
        raise CheckpointError(f"{run}: this model does not write text. Instead, {instead}")
    return saved.model


def _check_fit(texts: list[list[int]], prompts: Sequence[str], shape: Shape) -> None:
    for number, (ids, prompt) in enumerate(zip(texts, prompts), 1):
        if not room(shape, len(ids)):
            raise DataError(
                f"prompt {number} ({prompt[:30]!r}…) has {len(ids):,} tokens with its <sos>, but this model has only "
                f"{shape.context:,} learned positions: shorten it, or pretrain with --set model.positions=rotary"
            )


def _seed(seed: int, sample: int, ids: list[int]) -> int:
    """Different luck for each prompt, yet the same wherever the prompt stands."""
    return int.from_bytes(hashlib.sha256(repr((seed, sample, ids)).encode()).digest()[:4])

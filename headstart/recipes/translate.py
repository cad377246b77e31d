"""Lines in, translations out, in the order in which they came."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from headstart.checkpoint import Saved, load
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.generate.beam import Hypothesis, Search, search_all
from headstart.generate.choose import never_written
from headstart.generate.parting import part
from headstart.model.models import Translator
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import choose_device

BLOCK = 2_048  # lines sorted by length together
Long = Literal["split", "refuse"]


@dataclass(frozen=True)
class Written:
    """One translation. `score` is what it was ranked by: its log-probability with the length penalty."""

    text: str
    score: float
    log_probability: float


@dataclass(frozen=True)
class Translated:
    """A line, counted from 1, and its translations, the best first; a line without words has one without words.

    `parts` is above 1 where the line was too long and was translated in so many parts.
    """

    line: int
    source: str
    found: tuple[Written, ...]
    parts: int = 1

    @property
    def text(self) -> str:
        return self.found[0].text


class Interpreter:
    """A saved translator, ready to translate line after line; without a `penalty` with its own."""

    def __init__(
        self, saved: Saved, *, beam: int = 4, penalty: float | None = None, best: int = 1, long: Long = "split"
    ):
        if not isinstance(saved.model, Translator):
            raise CheckpointError(
                f"{saved.folder}: holds a {saved.card.task} model, which does not translate. "
                "Make a translator: headstart translator SOURCE:TARGET --valid SOURCE:TARGET --out runs/mt"
            )
        card, usual = saved.card, Search()
        try:
            wish = card.penalty if penalty is None else penalty
            self.how = Search(beam=beam, penalty=wish, growth=max(usual.growth, card.growth))
        except ValueError as problem:
            raise ConfigError(str(problem)) from None
        if not 1 <= best <= beam:
            raise ConfigError(f"--best {best}: a beam of {beam} finds 1 to {beam}; raise --beam for more")
        self.folder, self.model, self.best, self.long = saved.folder, saved.model, best, long
        self.source, self.target = saved.source_tokenizer, saved.tokenizer
        self.room = (saved.card.longest or saved.card.shape.context) - 1  # tokens of a source beside its <eos>
        self.never = never_written(self.target, saved.card.shape.vocabulary)

    def too_long(self, lines: Sequence[str]) -> list[int]:
        """The places of the lines that are refused, however good the others are."""
        if self.long == "split":
            return []
        return [place for place, line in enumerate(lines) if len(self.source.encode(line)) > self.room]

    def translate(self, lines: Sequence[str], first: int = 1) -> list[Translated]:
        """One block of lines, of which `first` is the number of the first."""
        parts = [self._parts(line) for line in lines]
        ids = [part for cut in parts for part in cut]
        found = iter(search_all(self.model, ids, self.how, forbidden=self.never, wanted=self.best))
        answers = [[next(found) for _ in cut] for cut in parts]
        return [
            Translated(number, line, self._written(answer), max(1, len(answer)))
            for number, (line, answer) in enumerate(zip(lines, answers), first)
        ]

    def _parts(self, line: str) -> list[list[int]]:
        """The ids to translate: none for a line without words, several where it is too long."""
        if not line.strip():
            return []
        ids = self.source.encode(line)
        if len(ids) <= self.room:
            return [[*ids, self.source.eos]] if ids else []
        cut = part(line, lambda text: len(self.source.encode(text)) <= self.room)
        encoded = [self.source.encode(text) for text in cut]
        return [[*ids[: self.room], self.source.eos] for ids in encoded if ids]

    def _written(self, answers: Sequence[Sequence[Hypothesis]]) -> tuple[Written, ...]:
        """Parts of a line are joined: the best of each, then the second best of each …; their scores add up."""
        if not answers:
            return (Written("", 0.0, 0.0),)
        ranks = min(self.best, min(map(len, answers)))
        joined = [[found[rank] for found in answers] for rank in range(ranks)]
        return tuple(
            Written(
                " ".join(one_line(self.target, each) for each in row),
                sum(each.score for each in row),
                sum(each.log_probability for each in row),
            )
            for row in joined
        )


def one_line(tokenizer: Tokenizer, found: Hypothesis) -> str:
    """A line in is a line out, even if the model writes a line break."""
    return " ".join(tokenizer.decode(found.ids).splitlines()).strip()


def load_interpreter(
    run: Path,
    *,
    beam: int = 4,
    penalty: float | None = None,
    best: int = 1,
    long: Long = "split",
    device: str = "auto",
) -> Interpreter:
    return Interpreter(load(run, choose_device(device)), beam=beam, penalty=penalty, best=best, long=long)


def translate_blocks(interpreter: Interpreter, blocks: Iterable[Sequence[str]], name: str) -> Iterator[Translated]:
    """Block after block, each given out when it is done; what stands before a line that is refused is given out too."""
    number = 1
    for block in blocks:
        for start in range(0, len(block), BLOCK):
            lines = block[start : start + BLOCK]
            refused = interpreter.too_long(lines)
            yield from interpreter.translate(lines[: refused[0]] if refused else lines, number)
            if refused:
                raise _refusal(name, [number + place for place in refused], interpreter.room)
            number += len(lines)


def _refusal(name: str, numbers: Sequence[int], room: int) -> DataError:
    shown, more = ", ".join(f"{number:,}" for number in numbers[:10]), len(numbers) - 10
    return DataError(
        f"{name}{'s' if len(numbers) > 1 else ''} {shown}{f' and {more:,} more' if more > 0 else ''}: "
        f"more than the {room:,} tokens that this translator reads; shorten, or let it be split with --long split"
    )


def in_blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    source = iter(lines)
    while block := list(islice(source, BLOCK)):
        yield block

"""Write on from a prompt: choose a token, feed it back in, until there is a reason to stop."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from headstart.errors import CheckpointError
from headstart.generate.choose import Chain, Chooser
from headstart.generate.past import empty_pasts
from headstart.generate.shortlist import Shortlist, pays
from headstart.generate.stepping import Stepper
from headstart.model.body import Body
from headstart.model.heads import VocabularyHead
from headstart.model.masks import padding_mask
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape
from headstart.text.pieces.specials import EOS

Stop = Literal["eos", "length", "context"]
WORTH = 256  # tokens to write, in all rows, from which on a shortlist saves more than it costs to make
LUCK = 64  # draws made at a time
NOT_FINITE = "the model's scores are not finite numbers: its training failed, use another one"
Choice = Callable[[Tensor, Tensor], Tensor]
"""From the last vectors (B, D) and the luck of each row (B,) to the next ids (B,)."""


@dataclass(frozen=True, slots=True)
class Token:
    """One more token of one prompt; `stopped` says why no other follows, and is "" while others do."""

    row: int
    id: int
    stopped: Stop | Literal[""] = ""


class Rows:
    """Texts of different lengths that grow side by side, padded on the left so that all end together.

    Nobody looks at the padding, and positions are counted from the first real token.
    """

    def __init__(self, body: Body, texts: Sequence[Sequence[int]], *, cached: bool):
        longest, device = max(map(len, texts)), body.embedding.weight.device
        self.body, self.pasts = body, empty_pasts(body) if cached else None
        self.stepper = Stepper(body) if cached else None
        self.ids = torch.tensor([[EOS] * (longest - len(text)) + list(text) for text in texts], device=device)  # (B, T)
        self.padding = torch.tensor([longest - len(text) for text in texts], device=device)  # (B,)
        self.padded = bool(self.padding.any())

    def read(self) -> Tensor:
        """The vectors at the last tokens. With a cache, `ids` are only what is new. -> (B, D)"""
        start = self.pasts[0].length if self.pasts else 0
        end = start + self.ids.size(1)
        if start and self.pasts and self.stepper:
            if not self.padded:
                return self.stepper.step(self.ids[:, 0], start, None, self.pasts)
            seen = torch.arange(end, device=self.ids.device) >= self.padding[:, None]  # (B, S)
            return self.stepper.step(self.ids[:, 0], start - self.padding, padding_mask(seen), self.pasts)
        if not self.padded:
            return self.body(self.ids, pasts=self.pasts)[:, -1]
        places = torch.arange(end, device=self.ids.device) - self.padding[:, None]  # (B, S)
        return self.body(self.ids, real=places >= 0, positions=places.clamp(min=0), pasts=self.pasts)[:, -1]

    def append(self, ids: Tensor) -> None:
        """(B,)"""
        self.ids = ids[:, None] if self.pasts else torch.cat([self.ids, ids[:, None]], dim=1)

    def select(self, kept: Sequence[int]) -> None:
        """Rows that are left out cost nothing any more."""
        rows = torch.tensor(kept, device=self.ids.device)
        self.ids, self.padding = self.ids[rows], self.padding[rows]
        for past in self.pasts or []:
            past.select(rows)


@torch.inference_mode()
def generate(
    model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    *,
    tokens: int,
    chooser: Chooser,
    seeds: Sequence[int],
    cached: bool = True,
    choice: Choice | None = None,
) -> Iterator[Token]:
    """Up to `tokens` more for each prompt, all prompts at once, each token given out as soon as it is chosen.

    Each row has its own seed and padding is not seen, so what is written after a prompt does not depend on the
    prompts beside it; nor on the cache, which only saves time. This holds up to float rounding: two tokens
    whose scores agree in the first six digits may be exchanged. Who writes again and again prepares the `choice` once.
    """
    assert not model.training, "a model in training mode drops parts of itself"
    assert len(seeds) == len(prompts), "a seed for each prompt"
    limits = [min(tokens, room(model.body.shape, len(prompt))) for prompt in prompts]
    assert min(limits) > 0, "no token was asked for, or a prompt is longer than the model's positions"
    rows, live = Rows(model.body, prompts, cached=cached), list(range(len(prompts)))
    chances = [torch.Generator().manual_seed(seed) for seed in seeds]
    choice = choice or prepare(model.head, chooser, sum(limits))
    for written in range(1, tokens + 1):
        x = rows.read()  # (B, D)
        if written == 1 and not x.isfinite().all():
            raise CheckpointError(NOT_FINITE)
        if (written - 1) % LUCK == 0:
            luck = torch.stack([torch.rand(LUCK, generator=chance) for chance in chances])  # (all rows, LUCK)
        now = luck[:, (written - 1) % LUCK]
        chosen = choice(x, now if len(live) == len(prompts) else now[live])
        going: list[int] = []
        for place, (row, id) in enumerate(zip(live, chosen.tolist())):
            stopped = _stopped(id, written, limits[row], tokens)
            if not stopped:
                going.append(place)
            yield Token(row, id, stopped)
        if not going:
            return
        rows.append(chosen)
        if len(going) < len(live):
            rows.select(going)
            live = [live[place] for place in going]


@torch.inference_mode()
def prepare(head: VocabularyHead, chooser: Chooser, tokens: int) -> Choice:
    """The fastest way to choose about `tokens` tokens with this head."""
    if not all(part.isfinite().all() for part in head.parameters()):
        raise CheckpointError(NOT_FINITE)
    if isinstance(chooser, Chain) and tokens >= WORTH and pays(head, chooser.best):
        chain, shortlist = chooser, Shortlist(head, chooser.forbidden, chooser.best)
        return lambda x, luck: chain.among(shortlist(x), luck)
    scores = turned(head)
    return lambda x, luck: chooser(scores(x), luck)


def turned(head: VocabularyHead) -> Callable[[Tensor], Tensor]:
    """The same head over a copy of its table that lies the other way: a third of the time, for one row."""
    table = head.weight.t().contiguous()  # (D, V)
    if head.bias is None:
        return lambda x: head.refine(x) @ table
    bias = head.bias
    return lambda x: torch.addmm(bias, head.refine(x), table)


def room(shape: Shape, length: int) -> int:
    """How many tokens can follow a prompt: no end, unless positions are learnt. The last one is never read."""
    return max(shape.context - length + 1, 0) if shape.positions == "learned" else 2**62


def _stopped(id: int, written: int, limit: int, tokens: int) -> Stop | Literal[""]:
    if id == EOS:
        return "eos"
    if written < limit:
        return ""
    return "length" if limit == tokens else "context"

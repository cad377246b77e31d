"""Beam search: of all translations begun so far keep the likeliest few, until enough of them have ended.

Greedy search is the beam of one. The sources of a batch are searched side by side; those that are done leave the
batch. The k hypotheses of a source are read as one text: each step adds a token of every hypothesis, and each token
sees those alone that it came from. So what has been computed stays where it is, whichever hypotheses go on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headstart.data.pairs import MOST_GROWTH, MOST_PENALTY
from headstart.errors import CheckpointError
from headstart.generate.highest import highest
from headstart.generate.past import empty_pasts
from headstart.model.masks import real_positions
from headstart.model.models import Translator
from headstart.text.pieces.specials import EOS, PAD, SOS


@dataclass(frozen=True, kw_only=True)
class Search:
    """How translations are looked for.

    Hypotheses are ranked by log-probability / ((5 + length) / 6)^penalty (Wu et al., 2016), `<eos>` counted: 0 ranks
    by probability, which favours short ones. No translation is longer than `growth` times its source and ten tokens.
    """

    beam: int = 4
    penalty: float = 0.6
    growth: float = 2.0

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ValueError(f"--beam {self.beam}: give 1 (greedy) or more, such as 4")
        if not 0 <= self.penalty <= MOST_PENALTY:
            raise ValueError(f"--penalty {self.penalty}: give 0 (none) to {MOST_PENALTY}, such as 0.6")
        if not 0 < self.growth <= MOST_GROWTH:
            raise ValueError(f"growth is {self.growth}, but it must lie above 0 and up to {MOST_GROWTH:g}")

    def rank(self, log_probability: Tensor, length: int | Tensor) -> Tensor:
        return log_probability / ((5 + length) / 6) ** self.penalty

    def longest(self, source: int) -> int:
        """Tokens of a translation, `<eos>` among them."""
        return int(self.growth * source) + 10


ROWS, TOKENS = 128, 16_384  # of a batch: sources, and positions of all hypotheses

GREEDY = Search(beam=1, penalty=0.0)


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation, its `<eos>` left out. `score` is what it was ranked by."""

    ids: tuple[int, ...]
    score: float
    log_probability: float


@torch.inference_mode()
def search(
    model: Translator,
    sources: Sequence[Sequence[int]],
    how: Search,
    *,
    forbidden: Sequence[int] = (),
    cached: bool = True,
    wanted: int = 0,
) -> list[list[Hypothesis]]:
    """For each source, which ends with `<eos>`, up to `how.beam` translations, the best first.

    Where fewer are `wanted`, the search of a source is over as soon as no better one can come (0: all are wanted).

    A source's translations do not depend on the sources beside it, nor on the cache, which only saves time. This holds
    up to float rounding: two translations whose scores agree in the first six digits may be exchanged.
    """
    assert not model.training, "a model in training mode drops parts of itself"
    wanted = wanted or how.beam
    hunt = _Hunt(model, sources, how, forbidden, cached, wanted)
    while hunt.going:
        hunt.step()
    return [sorted(found, key=lambda one: -one.score)[:wanted] for found in hunt.found]


class _Hunt:
    """The searches of one batch: B sources, with k hypotheses each."""

    def __init__(
        self,
        model: Translator,
        sources: Sequence[Sequence[int]],
        how: Search,
        forbidden: Sequence[int],
        cached: bool,
        wanted: int,
    ):
        device = model.writer.embedding.weight.device
        lengths, beam = torch.tensor([len(source) for source in sources], device=device), how.beam
        rows = [[*source, *[PAD] * (int(lengths.max()) - len(source))] for source in sources]
        padded = bool((lengths < lengths.max()).any())
        self.model, self.how, self.wanted = model, how, wanted
        self.real = real_positions(lengths, len(rows[0])) if padded else None  # (B, S)
        self.memory = model.reader(torch.tensor(rows, device=device), real=self.real)  # (B, S, D)
        self.pasts = empty_pasts(model.writer) if cached else None
        self.forbidden = torch.tensor(sorted({*forbidden} - {EOS}), dtype=torch.long, device=device)
        self.found: list[list[Hypothesis]] = [[] for _ in sources]
        self.numbers = list(range(len(sources)))  # of the sources that stand in the batch
        self.going = set(self.numbers)  # those of them that are not done
        self.limits = torch.tensor([_longest(model, how, len(source)) for source in sources], device=device)  # (B,)
        self.ids = torch.full((len(sources), beam, 1), SOS, device=device)  # (B, k, 1 + written)
        self.slots = torch.arange(beam, device=device).expand(len(sources), -1)[..., None]  # where each id was read
        self.sums = torch.full((len(sources), beam), -torch.inf, device=device)
        self.sums[:, 0] = 0.0  # all hypotheses begin alike: one of them is enough

    def step(self) -> None:
        """One more token for every hypothesis. Of 2k continuations at most k end, so k are left to go on."""
        best, ids, came = self._continuations(2 * self.how.beam)  # (B, 2k) each
        ends = (ids == EOS) & (best > -torch.inf)
        self._finish(best, came, ends)
        rest = best.masked_fill(ends, -torch.inf).topk(self.how.beam)  # (B, k)
        came, ids = came.gather(1, rest.indices), ids.gather(1, rest.indices)
        self.sums = rest.values
        parents = came[..., None].expand_as(self.ids)
        self.ids = torch.cat([self.ids.gather(1, parents), ids[..., None]], dim=2)
        here = torch.arange(self.how.beam, device=came.device).expand_as(came)
        self.slots = torch.cat([self.slots.gather(1, parents), here[..., None]], dim=2)
        self._go_on()

    def _continuations(self, most: int) -> tuple[Tensor, Tensor, Tensor]:
        """The likeliest continuations of each source: their log-probabilities, last ids and hypotheses before."""
        scores = self._scores()  # (B k, V)
        if self.ids.size(2) == 1 and not scores.isfinite().all():
            raise CheckpointError("the model's scores are not finite numbers: its training failed, use another one")
        scores = torch.log_softmax(scores, 1)  # before anything is forbidden: probabilities are the model's own
        scores.index_fill_(1, self.forbidden, -torch.inf)
        over = (self.limits == self.ids.size(2)).repeat_interleave(self.how.beam)  # must end now
        if over.any():
            end = scores[:, EOS].clone()
            scores[over] = -torch.inf
            scores[:, EOS] = end
        values, ids = highest(scores, most)
        sums = (values + self.sums.flatten()[:, None]).view(len(self.numbers), -1)  # (B, k · most)
        best = sums.topk(min(most, sums.size(1)), dim=1)
        return best.values, ids.view_as(sums).gather(1, best.indices), best.indices // ids.size(1)

    def _scores(self) -> Tensor:
        """What each hypothesis may be followed by; with a cache, only its last token is read. (B k, V)"""
        context = {"memory": self.memory, "memory_real": self.real}
        if self.pasts is None:
            return self.model.head(self.model.writer(self.ids.flatten(0, 1), **context)[:, -1]).float()
        rows, beam, written = self.slots.shape
        kin = self.slots[..., None] == torch.arange(beam, device=self.slots.device)  # (B, k, written, k)
        x = self.model.writer(
            self.ids[:, :, -1],
            positions=torch.full((beam,), written - 1, device=self.ids.device),
            seen=kin.view(rows, beam, -1),
            pasts=self.pasts,
            **context,
        )
        return self.model.head(x.flatten(0, 1)).float()

    def _finish(self, sums: Tensor, came: Tensor, ends: Tensor) -> None:
        """Keep what has ended, but only where it stands among the k best."""
        rows, places = ends[:, : self.how.beam].nonzero(as_tuple=True)
        written = self.ids[rows, came[rows, places], 1:].tolist()
        sums = sums[rows, places]
        ranks = self.how.rank(sums, self.ids.size(2)).tolist()  # with the <eos>, without the <sos>
        for row, ids, rank, log_probability in zip(rows.tolist(), written, ranks, sums.tolist()):
            if (number := self.numbers[row]) in self.going:
                self.found[number].append(Hypothesis(tuple(ids), rank, log_probability))

    def _may_gain(self, source: int, rank: float, hope: float) -> bool:
        """Whether the best hypothesis may become one of the translations wanted.

        `hope` is what it is worth if it comes to its end, at its longest, without another loss: more it cannot become.
        Where all k are wanted it counts for the first of them only, for the others the `rank` as it stands. To stop at
        k translations of any kind would be wrong: a sure model has one good hypothesis, and beside it poor ones that
        end early. A beam of one takes what ends first.
        """
        ended = sorted((one.score for one in self.found[source]), reverse=True)
        last = ended[self.wanted - 1] if len(ended) >= self.wanted else -torch.inf  # as is the rank of what has ended
        if self.wanted < self.how.beam:
            return hope > last
        return rank > last or (self.how.beam > 1 and hope > max(ended, default=-torch.inf))

    def _go_on(self) -> None:
        """Sources that are done leave, an eighth of the batch at a time: to move the others costs as much as a step."""
        ranks = self.how.rank(self.sums[:, 0], self.ids.size(2) - 1).tolist()
        hopes = self.how.rank(self.sums[:, 0], self.limits).tolist()
        for known in zip(self.numbers, ranks, hopes):
            if known[0] in self.going and not self._may_gain(*known):
                self.going.remove(known[0])
        if not self.going or len(self.numbers) - len(self.going) < len(self.numbers) / 8:
            return
        kept = [row for row, number in enumerate(self.numbers) if number in self.going]
        rows = torch.tensor(kept, device=self.ids.device)
        self.numbers = [self.numbers[row] for row in kept]
        self.ids, self.slots, self.sums = self.ids[rows], self.slots[rows], self.sums[rows]
        self.limits, self.memory = self.limits[rows], self.memory[rows]
        self.real = self.real[rows] if self.real is not None else None
        for past in self.pasts or ():
            past.select(rows)


def _longest(model: Translator, how: Search, source: int) -> int:
    """Of a translation, its `<eos>` counted; learned positions set an end of their own."""
    shape = model.writer.shape
    return min(how.longest(source), shape.context) if shape.positions == "learned" else how.longest(source)


def search_all(
    model: Translator,
    sources: Sequence[Sequence[int]],
    how: Search,
    *,
    forbidden: Sequence[int] = (),
    rows: int = ROWS,
    tokens: int = TOKENS,
    wanted: int = 0,
) -> list[list[Hypothesis]]:
    """As `search`, for any number of sources: in batches of like length, the answers in the order of the sources."""
    found: list[list[Hypothesis]] = [[] for _ in sources]
    tokens = max(1, tokens // how.beam)
    for batch in batches([len(source) for source in sources], rows=rows, tokens=tokens):
        answers = search(model, [sources[number] for number in batch], how, forbidden=forbidden, wanted=wanted)
        for number, answer in zip(batch, answers):
            found[number] = answer
    return found


def batches(lengths: Sequence[int], *, rows: int, tokens: int) -> Iterator[list[int]]:
    """The numbers of texts of like length, the longest first: at most `rows`, and `tokens` with padding."""
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    start = 0
    while start < len(order):
        size = max(1, min(rows, tokens // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size

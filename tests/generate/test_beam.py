"""Beam search against enumeration, greedy search, an uncached search and a second reading of what it found."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import model_of, small
from torch import Tensor, nn

from headstart.checkpoint import build
from headstart.errors import CheckpointError
from headstart.generate.beam import GREEDY, Hypothesis, Search, batches, search
from headstart.model.init import initialise
from headstart.model.models import Translator
from headstart.text.pieces.specials import EOS, OOV, PAD, SOS

NEVER = (SOS, PAD, OOV)


def translator(seed: int = 0, sharp: float = 6.0, **changes: object) -> Translator:
    """Sharpened scores: a model that knows nothing gives all translations the same one."""
    model = model_of("translate", seed, **changes)
    assert isinstance(model, Translator)
    model.head.weight.data.mul_(sharp)
    return model


def sources(seed: int, count: int = 5, vocabulary: int = 50) -> list[list[int]]:
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 9, (count,), generator=draw).tolist()
    return [[*torch.randint(7, vocabulary, (n,), generator=draw).tolist(), EOS] for n in lengths]


def log_probability(model: Translator, source: list[int], target: list[int]) -> float:
    """The plain way: one pass over the whole pair."""
    with torch.no_grad():
        scores = model(torch.tensor([source]), torch.tensor([[SOS, *target]]))[0].log_softmax(1)
    return float(scores[torch.arange(len(target) + 1), torch.tensor([*target, EOS])].sum())


def same(one: list[list[Hypothesis]], other: list[list[Hypothesis]]) -> None:
    assert [[h.ids for h in found] for found in one] == [[h.ids for h in found] for found in other]
    for a, b in zip(one, other):
        assert [h.score for h in a] == pytest.approx([h.score for h in b], abs=1e-4)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 2.0])
def test_a_beam_that_loses_nothing_finds_the_best_of_all(penalty: float) -> None:
    model = translator(3, vocabulary=7, sharp=3.0)
    how = Search(beam=400, penalty=penalty, growth=0.1)
    how_long = 4
    object.__setattr__(how, "longest", lambda source: how_long)
    usable = [id for id in range(7) if id not in (*NEVER, EOS)]
    for source in ([4, 5, EOS], [6, EOS]):
        every = [list(t) for n in range(how_long) for t in product(usable, repeat=n)]
        known = {tuple(t): log_probability(model, source, t) for t in every}
        ranked = sorted(known, key=lambda t: -known[t] / ((5 + len(t) + 1) / 6) ** penalty)
        found = search(model, [source], how, forbidden=NEVER)[0]
        assert len(found) == len(every) == 40
        assert [h.ids for h in found[:10]] == ranked[:10]
        assert [h.ids for h in search(model, [source], how, forbidden=NEVER, wanted=2)[0]] == ranked[:2]


@settings(max_examples=30)
@given(st.integers(0, 99), st.sampled_from([2, 4]), st.sampled_from([0.0, 0.6, 2.0]))
def test_a_search_for_one_finds_the_first_of_a_search_for_all(seed: int, beam: int, penalty: float) -> None:
    model, how, texts = translator(seed), Search(beam=beam, penalty=penalty), sources(seed)
    several = search(model, texts, how, forbidden=NEVER)
    for alone, best in zip(search(model, texts, how, forbidden=NEVER, wanted=1), several):
        assert len(alone) == 1
        assert alone[0].score == pytest.approx(best[0].score, abs=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "learned"])
def test_a_beam_of_one_is_greedy(positions: str) -> None:
    model = translator(1, positions=positions, context=40)
    for source, found in zip(sources(0), search(model, sources(0), GREEDY, forbidden=NEVER)):
        ids = [SOS]
        while len(ids) <= min(GREEDY.longest(len(source)), 40 if positions == "learned" else 99):
            with torch.no_grad():
                scores = model(torch.tensor([source]), torch.tensor([ids]))[0, -1]
            scores[list(NEVER)] = -torch.inf
            ids.append(int(scores.argmax()))
            if ids[-1] == EOS:
                break
        written = ids[1:-1]
        assert list(found[0].ids) == written


@settings(max_examples=15)
@given(
    st.integers(0, 99),
    st.sampled_from([1, 2, 3, 5]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(["pre", "post"]),
    st.sampled_from(["sinusoidal", "rotary", "learned"]),
)
def test_neither_cache_nor_neighbours_change_a_translation(
    seed: int, beam: int, penalty: float, norm: str, positions: str
) -> None:
    """So many sources that some wait, done, beside others that are not; learned positions end before the limit."""
    model = translator(seed, norm=norm, positions=positions, width=12, heads=3, context=20)
    how, texts = Search(beam=beam, penalty=penalty), sources(seed, count=20)
    together = search(model, texts, how, forbidden=NEVER)
    same(together, search(model, texts, how, forbidden=NEVER, cached=False))
    same(together, [search(model, [text], how, forbidden=NEVER)[0] for text in texts])


def test_scores_are_those_of_a_second_reading() -> None:
    model, how = translator(2), Search(beam=4, penalty=0.6)
    for source, found in zip(sources(2), search(model, sources(2), how, forbidden=NEVER)):
        assert len(found) == 4
        assert len({h.ids for h in found}) == 4
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        for one in found:
            again = log_probability(model, source, list(one.ids))
            assert one.log_probability == pytest.approx(again, abs=1e-4)
            assert one.score == pytest.approx(again / ((5 + len(one.ids) + 1) / 6) ** 0.6, abs=1e-4)


def test_a_separate_table_and_a_limit_are_kept_to() -> None:
    torch.manual_seed(0)
    model = build("translate", small(vocabulary=20), source_vocabulary=90)
    initialise(model)
    assert isinstance(model, Translator)
    model.eval().head.bias.data[EOS] = -100  # type: ignore[union-attr]
    found = search(model, [[80, 89, EOS]], Search(beam=3), forbidden=NEVER)[0]
    assert all(len(one.ids) == 2 * 3 + 10 - 1 for one in found)
    assert max(id for one in found for id in one.ids) < 20
    assert not {*NEVER} & {id for one in found for id in one.ids}


def test_a_broken_model_is_named() -> None:
    model = translator(0)
    model.head.weight.data[9] = float("nan")
    with pytest.raises(CheckpointError, match="not finite"):
        search(model, [[8, EOS]], GREEDY)


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 9), st.integers(1, 200))
def test_every_text_stands_in_one_batch(lengths: list[int], rows: int, tokens: int) -> None:
    cut = list(batches(lengths, rows=rows, tokens=tokens))
    assert sorted(number for batch in cut for number in batch) == list(range(len(lengths)))
    for batch in cut:
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= tokens


class _Sure(nn.Module):
    """Writes 7, ten times, then ends; all else, an early end among it, is about as unlikely as the rest."""

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.full((len(x), 12), -20.0)
        scores[:, EOS] = -19.0
        scores[torch.arange(len(x)), 7] = 5.0
        return scores


def test_poor_translations_that_end_early_do_not_end_the_search() -> None:
    model = build("translate", small(vocabulary=12)).eval()
    assert isinstance(model, Translator)
    model.head = _Sure()  # type: ignore[assignment]
    how = Search(beam=4, penalty=0.6, growth=1.0)
    sources = [[8, 9, 10, EOS]]
    greedy, best = (search(model, sources, replace(how, beam=beam))[0][0] for beam in (1, 4))
    assert best.ids == greedy.ids == (7,) * 13  # as long as it may be

"""Writing on: the cache, the batch and the padding change nothing, and there is always a reason to stop.

Models compute in float64 here, so that no two scores are as near as a rounding.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import model_of, shapes, small
from torch import Tensor

from headstart.checkpoint import build
from headstart.errors import CheckpointError
from headstart.generate.choose import Chooser, Sampling
from headstart.generate.search import Token, generate
from headstart.model.init import initialise
from headstart.model.models import LanguageModel
from headstart.model.shape import Shape

EOS = 2
GREEDY, SAMPLED = Sampling(temperature=0), Sampling(temperature=1.5, top_k=0, top_p=0.9)
PROMPTS = [[0, 7, 8], [0], [0, 9, 4, 4, 11, 30], [0, 7, 8]]
prompt_lists = st.lists(st.lists(st.integers(0, 49), min_size=1, max_size=7), min_size=1, max_size=5)


def lm(seed: int = 0, shape: Shape | None = None, **changes: Any) -> LanguageModel:
    torch.manual_seed(seed)
    model = build("lm", shape or small(**changes))
    initialise(model)
    assert isinstance(model, LanguageModel)
    torch.nn.init.normal_(model.head.weight, std=1.0)
    return model.double().eval()


def write(
    model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    tokens: int = 8,
    sampling: Sampling = SAMPLED,
    forbidden: Sequence[int] = (0, 1, 3),
    **rest: Any,
) -> tuple[list[list[int]], list[str]]:
    """All tokens of each prompt, and why each stopped."""
    seeds = rest.pop("seeds", [5] * len(prompts))
    ids: defaultdict[int, list[int]] = defaultdict(list)
    stops: dict[int, str] = {}
    chooser: Chooser = sampling.chooser(forbidden)
    for token in generate(model, prompts, tokens=tokens, chooser=chooser, seeds=seeds, **rest):
        assert token.row not in stops, "a row that has stopped goes on"
        ids[token.row].append(token.id)
        if token.stopped:
            stops[token.row] = token.stopped
    return [ids[row] for row in range(len(prompts))], [stops[row] for row in range(len(prompts))]


@settings(deadline=None, max_examples=60)
@given(shapes(), prompt_lists, st.sampled_from([GREEDY, SAMPLED]), st.integers(0, 99))
def test_neither_cache_nor_batch_nor_padding_changes_a_token(
    shape: Shape, prompts: list[list[int]], sampling: Sampling, seed: int
) -> None:
    model = lm(seed, shape)
    seeds = [seed + row for row in range(len(prompts))]
    together = write(model, prompts, 12, sampling, seeds=seeds)
    assert together == write(model, prompts, 12, sampling, seeds=seeds, cached=False)
    for row, prompt in enumerate(prompts):
        ids, stops = write(model, [prompt], 12, sampling, seeds=seeds[row : row + 1])
        assert (ids[0], stops[0]) == (together[0][row], together[1][row])


@given(shapes(), st.lists(st.integers(0, 49), min_size=1, max_size=6))
@settings(deadline=None, max_examples=20)
def test_greedy_is_a_loop_of_argmax_over_whole_passes(shape: Shape, prompt: list[int]) -> None:
    model, ids = lm(1, shape), list(prompt)
    for _ in range(8):
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
        if ids[-1] == EOS:
            break
    assert write(model, [prompt], 8, GREEDY, forbidden=())[0][0] == ids[len(prompt) :]


def test_a_seed_gives_the_same_tokens_and_another_gives_others() -> None:
    model = lm()
    first = write(model, PROMPTS, 20, seeds=[1, 2, 3, 4])
    assert first == write(model, PROMPTS, 20, seeds=[1, 2, 3, 4])
    assert first[0][0] != first[0][3], "the same prompt with two seeds"
    assert first[0][1] != write(model, PROMPTS, 20, seeds=[1, 7, 3, 4])[0][1]


def test_fewer_tokens_are_the_beginning_of_more() -> None:
    model = lm()
    short, long = write(model, PROMPTS, 5)[0], write(model, PROMPTS, 40)[0]
    assert [ids[:5] for ids in long] == short


def chosen_in_turn(script: dict[int, list[int]]) -> Chooser:
    """Plays a script: the tokens of each row, as long as it lives."""
    left = {row: iter(ids) for row, ids in script.items()}

    def choose(scores: Tensor, luck: Tensor) -> Tensor:
        assert len(scores) == len(left), "rows that have ended must not be computed any more"
        ids = {row: next(tokens) for row, tokens in left.items()}
        for row in [row for row, id in ids.items() if id == EOS]:
            del left[row]
        return torch.tensor(list(ids.values()))

    return choose


def test_a_row_ends_at_eos_and_costs_nothing_from_then_on() -> None:
    chooser = chosen_in_turn({0: [9, EOS], 1: [8, 8, 8, EOS], 2: [7, 7, 7, 7, 7]})
    found = list(generate(lm(), PROMPTS[:3], tokens=5, chooser=chooser, seeds=[0, 0, 0]))
    assert [token for token in found if token.row == 0] == [Token(0, 9), Token(0, EOS, "eos")]
    assert [token.stopped for token in found if token.row == 1] == ["", "", "", "eos"]
    assert [token.stopped for token in found if token.row == 2] == ["", "", "", "", "length"]


def never_ending(prompts: Sequence[Sequence[int]], tokens: int, **changes: Any) -> tuple[list[int], list[str]]:
    ids, stops = write(lm(**changes), prompts, tokens, forbidden=[EOS])
    return [len(row) for row in ids], stops


def test_learned_positions_end_with_their_table() -> None:
    counts, stops = never_ending([[0] * 3, [0] * 16, [0] * 9], 12, positions="learned")
    assert counts == [12, 1, 8]  # 16 positions can be read, and the token after the last one is never read
    assert stops == ["length", "context", "context"]
    assert never_ending([[0] * 5], 12, positions="learned") == ([12], ["length"])


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_other_positions_have_no_end(positions: str) -> None:
    assert never_ending([[0] * 20, [0]], 30, positions=positions, heads=2) == ([30, 30], ["length", "length"])


def test_a_token_is_handed_over_before_the_next_is_computed() -> None:
    asked = 0

    def counting(scores: Tensor, luck: Tensor) -> Tensor:
        nonlocal asked
        asked += 1
        return torch.full((len(scores),), 9)

    stream: Iterator[Token] = generate(lm(), [[0]], tokens=10, chooser=counting, seeds=[0])
    next(stream)
    next(stream)
    assert asked == 2
    assert torch.tensor([1.0], requires_grad=True).add(1).requires_grad, "inference mode is left between tokens"


def test_a_model_whose_training_failed_is_refused() -> None:
    model = lm()
    model.head.weight.data[3] = torch.nan
    with pytest.raises(CheckpointError, match="not finite"):
        write(model, [[0]])


def test_float32_agrees_too() -> None:
    model = model_of("lm", width=48, heads=4, depth=3)
    assert isinstance(model, LanguageModel)
    together = write(model, PROMPTS, 30)[0]
    assert together == write(model, PROMPTS, 30, cached=False)[0]
    assert together == [write(model, [prompt], 30)[0][0] for prompt in PROMPTS]

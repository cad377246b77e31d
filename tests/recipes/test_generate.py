"""Text after a prompt, as the recipe hands it over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from model.shapes import model_of, small

from headstart.checkpoint import Card, build, save
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.generate.choose import Sampling
from headstart.generate.search import Token
from headstart.generate.search import generate as search
from headstart.generate.spelling import Speller
from headstart.model.init import initialise
from headstart.model.models import LanguageModel, Task
from headstart.recipes import generate as recipe
from headstart.recipes.generate import Part, Written, generate
from headstart.text.subwords import train_tokenizer

TOKENIZER = train_tokenizer(["the cat sat on the mat", "a dog and a cat"] * 20, 300)
STORY = "the cat sat 😀 on\nthe mat"
GREEDY = Sampling(temperature=0)


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows one text by heart."""
    torch.manual_seed(0)
    shape = small(vocabulary=TOKENIZER.size, width=32, heads=2, hidden=64, context=24)
    model = build("lm", shape)
    initialise(model)
    ids = torch.tensor([[TOKENIZER.sos, *TOKENIZER.encode(STORY), TOKENIZER.eos]])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[0, 1:])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    folder = tmp_path_factory.mktemp("runs") / "learnt"
    save(folder / "best", model, Card(task="lm", shape=shape), TOKENIZER)
    return folder


@pytest.fixture(scope="module")
def random_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("runs") / "random")


def saved(folder: Path, task: Task = "lm", positions: str = "sinusoidal") -> Path:
    labels = ("no", "yes") if task == "classify" else ()
    shape, causal = small(vocabulary=TOKENIZER.size, positions=positions), task not in ("masked", "bert")
    card = Card(task=task, shape=shape, causal=causal, labels=labels)
    model = model_of(task, vocabulary=TOKENIZER.size, positions=positions)
    if task == "lm":
        model.get_parameter("head.bias").data[TOKENIZER.eos] = -50.0  # never ends by chance
    save(folder / "best", model, card, TOKENIZER)
    return folder


def wholes(parts: list[Part]) -> list[Written]:
    return [part.whole for part in parts if part.whole]


def test_a_text_known_by_heart_is_written_to_its_end(learnt: Path) -> None:
    for prompt in ("", "the", "the cat sat", STORY):
        (text,) = wholes(list(generate(learnt, [prompt], sampling=GREEDY)))
        assert prompt + text.text == STORY
        assert text.stopped == "eos"
        assert text.tokens == len(TOKENIZER.encode(STORY)) - len(TOKENIZER.encode(prompt))
        assert not text.beyond


def test_parts_are_whole_characters_in_order_text_by_text(learnt: Path) -> None:
    prompts = ["the cat", "", "the cat sat", "the"]
    parts = list(generate(learnt, prompts, sampling=GREEDY))
    assert [part.number for part in parts] == sorted(part.number for part in parts)
    for number, prompt in enumerate(prompts):
        mine = [part for part in parts if part.number == number]
        assert prompt + "".join(part.text for part in mine) == STORY
        assert [part.whole is not None for part in mine] == [False] * (len(mine) - 1) + [True]
    assert "😀" in [part.text for part in parts]


def test_a_text_depends_on_prompt_seed_and_sample_only(random_run: Path) -> None:
    def texts(*prompts: str, seed: int = 0, samples: int = 1) -> list[str]:
        sampling = Sampling(temperature=1.5)
        parts = generate(random_run, prompts, tokens=12, sampling=sampling, seed=seed, samples=samples)
        return [text.text for text in wholes(list(parts))]

    many = [f"the cat {i}" for i in range(40)]  # more than a batch
    alone = [texts(many[i])[0] for i in (0, 20, 39)]
    assert [texts(*many)[i] for i in (0, 20, 39)] == alone
    assert texts("a dog", samples=3)[:1] == texts("a dog")
    assert len(set(texts("a dog", samples=3))) == 3
    assert texts("a dog", seed=1) != texts("a dog")
    assert texts("a dog", "a cat", samples=2) == texts("a dog", samples=2) + texts("a cat", samples=2)


def test_two_prompts_do_not_share_their_luck(random_run: Path) -> None:
    anything = Sampling(temperature=1e6, top_k=0, top_p=1.0)
    one, other = wholes(list(generate(random_run, ["a dog", "a cat"], tokens=20, sampling=anything)))
    assert one.text != other.text


def test_long_prompts_go_in_smaller_batches(random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = ["the", "a dog and a cat " * 9, "a", "a cat " * 20, "", "the cat"]
    before = wholes(list(generate(random_run, prompts, tokens=5)))
    sizes: list[int] = []

    def counted(model: LanguageModel, texts: list[list[int]], **rest: Any) -> Iterator[Token]:
        sizes.append(len(texts))
        return search(model, texts, **rest)

    monkeypatch.setattr(recipe, "CELLS", 400)
    monkeypatch.setattr(recipe, "search", counted)
    assert wholes(list(generate(random_run, prompts, tokens=5))) == before
    assert sizes == [1, 1, 1, 1, 2]


def test_a_character_that_the_length_cuts_through_is_left_out(learnt: Path) -> None:
    spaced = len(TOKENIZER.encode("the cat sat ")) - len(TOKENIZER.encode("the cat sat"))
    for extra, shown in ((0, " "), (1, " "), (3, " "), (4, " 😀")):
        (text,) = wholes(list(generate(learnt, ["the cat sat"], tokens=spaced + extra, sampling=GREEDY)))
        assert (text.text, text.stopped, text.tokens) == (shown, "length", spaced + extra)


def test_specials_are_never_written(random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def add(self: Speller, id: int) -> str:
        seen.append(id)
        return ""

    monkeypatch.setattr(Speller, "add", add)
    daring = Sampling(temperature=100.0, top_k=0, top_p=1.0)
    list(generate(random_run, [""] * 8, tokens=100, samples=4, sampling=daring))
    assert len(set(seen)) > 200
    assert not set(seen) & set(TOKENIZER.specials)


def test_past_the_context_is_said(random_run: Path, tmp_path: Path) -> None:
    (text,) = wholes(list(generate(random_run, [""], tokens=30)))
    assert (text.stopped, text.tokens, text.beyond) == ("length", 30, True)
    learned = saved(tmp_path / "learned", positions="learned")
    (text,) = wholes(list(generate(learned, ["the cat"], tokens=30)))
    assert (text.stopped, text.tokens, text.beyond) == ("context", 14, False)  # 3 tokens read, 16 positions
    with pytest.raises(DataError, match=r"prompt 2 \('the cat the cat.* 16 learned positions: shorten it"):
        generate(learned, ["a", "the cat " * 9])


@pytest.mark.parametrize(
    ("task", "instead"),
    [("masked", "headstart fill "), ("bert", "headstart fill "), ("classify", "headstart predict "),
     ("translate", "headstart translate ")],
)  # fmt: skip
def test_a_model_that_does_not_write_names_its_command(task: Task, instead: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=instead):
        generate(saved(tmp_path / "run", task), ["the"])


def test_numbers_without_a_meaning_are_refused(random_run: Path) -> None:
    with pytest.raises(ConfigError, match="--tokens 0: at least 1"):
        generate(random_run, [""], tokens=0)
    with pytest.raises(ConfigError, match="--samples -1: at least 1"):
        generate(random_run, [""], samples=-1)
    with pytest.raises(ConfigError, match="--device nowhere"):
        generate(random_run, [""], device="nowhere")
    assert not list(generate(random_run, []))

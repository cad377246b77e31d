"""Gaps filled from both sides."""

from pathlib import Path

import pytest
import torch
from model.shapes import model_of, small
from recipes.planted import MEANINGS, masked_run, tokenizer

from headstart.checkpoint import Card, load, save
from headstart.errors import CheckpointError, ConfigError, DataError
from headstart.model.models import Task
from headstart.recipes.fill import Filled, fill


def filled(*texts: str, top: int = 5) -> list[Filled]:
    return list(fill(masked_run(), texts, top=top))


def saved(folder: Path, task: Task) -> Path:
    labels = ("no", "yes") if task == "classify" else ()
    card = Card(task=task, shape=small(vocabulary=tokenizer().size), causal=task != "bert", labels=labels)
    save(folder / "best", model_of(task, vocabulary=tokenizer().size), card, tokenizer())
    return folder


@pytest.mark.parametrize("meaning", MEANINGS)
def test_the_guess_follows_what_stands_on_both_sides(meaning: str) -> None:
    first, second, third, *others = MEANINGS[meaning]
    for text in (f"{first} the bank {second} <mask> {third} was.", f"<mask> {first} the bank {second} {third} was."):
        (gap,) = filled(text, top=400)[0].gaps
        shares = {guess.word: guess.probability for guess in gap if not guess.attached}
        other = next(words for name, words in MEANINGS.items() if name != meaning)
        assert sum(shares[word] for word in others) > 5 * sum(shares[word] for word in other)


def test_probabilities_are_those_of_the_model() -> None:
    cutter, model = tokenizer(), load(masked_run()).model
    ids = [cutter.cls, *cutter.encode("the bank"), cutter.mask, *cutter.encode("fish"), cutter.sep]
    with torch.inference_mode():
        shares = model(torch.tensor([ids]))[0, ids.index(cutter.mask)].softmax(-1)
    words = shares.index_fill(0, torch.tensor([*cutter.specials, *cutter.byte_ids]), 0.0)
    (one,) = filled("the bank <mask> fish", top=400)
    assert one.likeliest == cutter.decode([int(words.argmax()) if id == cutter.mask else id for id in ids])
    for guess in one.gaps[0]:
        piece = guess.word if guess.attached else f"▁{guess.word}"
        id = next(id for id in range(cutter.size) if cutter.piece(id) == piece)
        assert guess.probability == pytest.approx(float(shares[id]), rel=1e-4)
    assert [guess.probability for guess in one.gaps[0]] == sorted((g.probability for g in one.gaps[0]), reverse=True)
    assert len(one.gaps[0]) == cutter.size - len({*cutter.specials, *cutter.byte_ids})
    assert sum(guess.probability for guess in one.gaps[0]) <= 1 + 1e-4


def test_a_text_is_filled_alike_in_any_company() -> None:
    texts = ["fish <mask> bank", "a <mask> and <mask> the water bank boat reeds.", "<mask>"] * 20
    together = filled(*texts)
    assert [one.text for one in together] == texts
    assert [len(one.gaps) for one in together] == [1, 2, 1] * 20
    for text, one in zip(texts[:3], together):
        (alone,) = filled(text)
        for left, right in zip(alone.gaps, one.gaps):
            assert [g.word for g in left] == [g.word for g in right]
            assert [g.probability for g in left] == pytest.approx([g.probability for g in right], rel=1e-3)


def test_what_cannot_be_filled_says_why() -> None:
    with pytest.raises(DataError, match=r"text 2 \('the bank'…\) has no gap: write <mask>"):
        filled("<mask>", "the bank")
    with pytest.raises(DataError, match="reads 32 at once: shorten it"):
        filled("the <mask> " * 20)
    with pytest.raises(ConfigError, match="--top 0"):
        fill(masked_run(), [], top=0)


@pytest.mark.parametrize(
    ("task", "said"),
    [("lm", "--objective masked"), ("classify", "its head names classes"), ("translate", "headstart translate ")],
)
def test_a_model_that_fills_no_gaps_says_what_to_type(task: Task, said: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=said):
        fill(saved(tmp_path / "run", task), ["<mask>"])


def test_a_bert_run_fills_too(tmp_path: Path) -> None:
    (one,) = fill(saved(tmp_path / "run", "bert"), ["the <mask>"])
    assert len(one.gaps[0]) == 5

"""What each objective can and cannot learn, on corpora made so that the answer is known."""

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import Saved, load
from headstart.errors import ConfigError
from headstart.recipes.pretrain import Pretrained, pretrain
from headstart.recipes.pretraining.objectives import OBJECTIVES, Name
from headstart.recipes.running.stopping import StopRule
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

PAIRS = [("red", "rose"), ("blue", "sea"), ("green", "leaf"), ("white", "snow")]
FILLING = ["is", "was", "then", "so", "very", "near"]
SMALL = (
    "model.width=32", "model.depth=1", "model.dropout=0.0", "model.embedding_dropout=0.0", "data.rows=32",
    "data.length=24", "data.holdout=0.1", "train.rate=1e-2", "train.evaluate_every=1000", "train.save_every=0",
)  # fmt: skip


def written(folder: Path, texts: Iterator[str]) -> str:
    (folder / "corpus.txt").write_text("\n".join(texts) + "\n")
    return str(folder / "corpus.txt")


def learn(corpus: str, out: Path, objective: Name, steps: int, *overrides: str) -> Pretrained:
    settings = small_settings(*SMALL, *overrides)
    return pretrain([corpus], out, settings=settings, stop=StopRule(steps=steps), objective=objective)


def colours(draw: random.Random, texts: int) -> Iterator[str]:
    """The first word follows from the last; the words between say nothing."""
    for _ in range(texts):
        first, last = draw.choice(PAIRS)
        yield " ".join([first, *draw.choices(FILLING, k=draw.randint(1, 4)), last])


def first_words_right(saved: Saved) -> float:
    """How often the first word is guessed by what the model is allowed to see."""
    tokenizer, right = saved.tokenizer, []
    for text in colours(random.Random(1), 200):
        first, *rest = tokenizer.encode(text)
        both_ways = [tokenizer.cls, tokenizer.mask, *rest, tokenizer.sep]
        ids, place = ([tokenizer.sos, first, *rest], 0) if saved.card.causal else (both_ways, 1)
        with torch.inference_mode():
            right.append(int(saved.model(torch.tensor([ids]))[0, place].argmax()) == first)
    return sum(right) / len(right)


@pytest.fixture(scope="module")
def what_follows(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("follows"), colours(random.Random(0), 1_500))


def test_a_masked_model_reads_what_follows(what_follows: str, tmp_path: Path) -> None:
    done = learn(what_follows, tmp_path / "run", "masked", 250)
    assert first_words_right(load(tmp_path / "run")) >= 0.95
    assert "bits_per_byte" not in done.scores


def test_a_causal_model_cannot(what_follows: str, tmp_path: Path) -> None:
    done = learn(what_follows, tmp_path / "run", "causal", 100)
    assert first_words_right(load(tmp_path / "run")) == pytest.approx(1 / len(PAIRS), abs=0.1)
    assert done.scores["bits_per_byte"] > 0


def topics(draw: random.Random, texts: int, *, kept: bool) -> Iterator[str]:
    """Two sentences on one letter; if it is not `kept`, on any two, so that nothing joins them."""
    for _ in range(texts):
        first, other = draw.choices("abcdefghijklmnopqrst", k=2)
        second = first if kept else other
        one, two = draw.choices("0123456789", k=2)  # else held-out texts would be of letters never seen
        yield f"{first} {first} {one} {first} . {second} {two} {second} {second} ."


@pytest.mark.parametrize(("kept", "steps"), [(True, 300), (False, 60)])
def test_the_next_sentence_is_told_where_it_can_be(kept: bool, steps: int, tmp_path: Path) -> None:
    corpus = written(tmp_path, topics(random.Random(0), 2_000, kept=kept))
    scores = learn(corpus, tmp_path / "run", "bert", steps, "model.depth=2", "model.heads=4", "data.length=16").scores
    if kept:
        assert scores["next_sentence_accuracy"] >= 0.95
    else:
        assert scores["next_sentence_accuracy"] == pytest.approx(0.5, abs=0.12)
    assert scores["held_out_loss"] == pytest.approx(scores["masked_loss"] + scores["next_sentence_loss"])


def test_one_held_out_document_has_no_next_sentence_to_score(tmp_path: Path) -> None:
    """No other text could stand in B's place, so a model that always says yes would be right."""
    corpus = small_corpus(tmp_path, documents=6)
    done = pretrain([corpus], tmp_path / "run", settings=small_settings(), stop=StopRule(steps=2), objective="bert")
    assert "next_sentence_accuracy" not in done.scores
    assert done.scores["held_out_loss"] == done.scores["masked_loss"]
    assert any("next sentence is not scored" in note for note in done.notes)


def without_mask(folder: Path, corpus: str) -> Path:
    """A SentencePiece model of somebody else, made for causal models."""
    own = train_tokenizer(Path(corpus).read_text().splitlines(), 320)
    (folder / "foreign.model").write_bytes(own.source.model)
    return folder / "foreign.model"


def test_a_tokenizer_without_mask_gets_one_and_the_run_keeps_it(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    foreign = without_mask(tmp_path, corpus)
    plain = Tokenizer.load(foreign)
    assert not plain.bidirectional
    for objective, added in (("causal", 0), ("masked", 3)):
        run = tmp_path / objective
        settings, stop = small_settings(), StopRule(steps=2)
        pretrain([corpus], run, settings=settings, stop=stop, objective=objective, tokenizer=foreign)  # type: ignore[arg-type]
        saved = load(run)
        assert saved.tokenizer.size == saved.card.shape.vocabulary == plain.size + added
        assert saved.tokenizer.encode("the old cat") == plain.encode("the old cat")


def test_the_held_out_draw_does_not_change_with_the_run(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    tokenizer = without_mask(tmp_path, corpus)
    stop, found = StopRule(steps=1), []
    for number, changed in enumerate([("data.hide=0.15",), ("data.hide=0.5", "data.whole_words=true")]):
        settings = small_settings("train.rate=1e-12", *changed)
        run = tmp_path / str(number)
        done = pretrain([corpus], run, settings=settings, stop=stop, objective="bert", tokenizer=tokenizer)
        found.append(done.scores)
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_a_fresh_model_knows_nothing_and_bert_reads_two_segments(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    for name, nothing in (("masked", math.log(320)), ("bert", math.log(320) + math.log(2))):
        settings = small_settings("train.rate=1e-12", "model.segments=0")
        done = pretrain([corpus], tmp_path / name, settings=settings, stop=StopRule(steps=1), objective=name)  # type: ignore[arg-type]
        assert done.scores["held_out_loss"] == pytest.approx(nothing, abs=0.25)
        assert load(tmp_path / name).card.shape.segments == OBJECTIVES[done.objective].segments


@pytest.mark.parametrize("setting", ["data.length=6", "data.length=1000", "data.across=true"])
def test_windows_that_cannot_be_read_are_refused_before_anything_is_written(setting: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"data\.(length|across)"):
        learn(small_corpus(tmp_path), tmp_path / "run", "bert", 1, setting)
    assert not (tmp_path / "run").exists()

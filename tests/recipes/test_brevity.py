"""The length penalty is chosen on validation and travels with the model; a user's own word goes before it."""

from dataclasses import replace
from pathlib import Path

import pytest
from recipes.small_pairs import small_pairs, small_translator

from headstart.checkpoint import load, read_card
from headstart.config import build
from headstart.errors import ConfigError
from headstart.evaluate.translation import Measures
from headstart.recipes.evaluate_pairs import evaluate_pairs
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.settings import read_settings
from headstart.recipes.translate import Interpreter
from headstart.recipes.translating.learning import TrainedTranslator
from headstart.recipes.translator import translator
from headstart.text.records import Reading
from headstart.train.settings import Translating

PENALTIES = (0.0, 0.6, 3.0)
LEARNS = (
    "model.width=32",
    "model.hidden=64",
    "model.dropout=0.0",
    "model.embedding_dropout=0.0",
    "translator.tokens=1024",
)


def trained(folder: Path, steps: int, *overrides: str, resume: bool = False) -> tuple[TrainedTranslator, str]:
    train, valid = small_pairs(folder, "train", 300, 0), small_pairs(folder, "valid", 30, 1)
    settings = small_translator("train.rate=1e-2", *overrides)
    stop = StopRule(steps=steps)
    return translator(train, valid, folder / "run", settings=settings, stop=stop, resume=resume), valid


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedTranslator, str]:
    return trained(tmp_path_factory.mktemp("brevity"), 160, *LEARNS, f"translator.penalties={list(PENALTIES)}")


def test_the_best_penalty_on_validation_is_kept(learnt: tuple[TrainedTranslator, str]) -> None:
    done, valid = learnt
    scored = {
        penalty: evaluate_pairs(done.folder, valid, Reading(), penalty=penalty, measures=Measures()).scores.bleu.value
        for penalty in PENALTIES
    }
    assert done.ranked.bleu == pytest.approx(scored)
    assert len(set(scored.values())) > 1, "the penalties must matter for this test to say anything"
    assert scored[done.ranked.kept] == max(scored.values())
    assert done.scores["bleu"] == pytest.approx(max(scored.values()))
    card = read_card(done.folder / "best")
    assert card.penalty == done.ranked.kept
    assert card.scores["bleu"] == done.scores["bleu"]


def test_a_finished_run_chooses_again_and_alike(learnt: tuple[TrainedTranslator, str]) -> None:
    done, _ = learnt
    card, folder = read_card(done.folder / "best"), done.folder.parent
    again = trained(folder, 160, *LEARNS, f"translator.penalties={list(PENALTIES)}", resume=True)[0]
    assert read_card(done.folder / "best") == card
    assert (again.ranked, again.scores) == (done.ranked, done.scores)


def test_the_kept_one_is_used_unless_another_is_named(learnt: tuple[TrainedTranslator, str]) -> None:
    saved = load(learnt[0].folder)
    saved = replace(saved, card=replace(saved.card, penalty=2.5))
    assert Interpreter(saved).how.penalty == 2.5
    assert Interpreter(saved, penalty=0.0).how.penalty == 0.0
    with pytest.raises(ConfigError, match="--penalty -1"):
        Interpreter(saved, penalty=-1.0)


def test_one_alone_is_taken_as_it_is(tmp_path: Path) -> None:
    done, _ = trained(tmp_path, 10, "translator.penalties=[1.5]")
    assert (done.ranked.kept, done.ranked.bleu) == (1.5, {})
    assert read_card(done.folder / "best").penalty == 1.5


@pytest.mark.parametrize(("penalties", "kept"), [((0.2, 0.6, 1.0), 0.6), ((0.0, 3.0), 0.0)])
def test_a_model_that_writes_nothing_keeps_the_usual_one_or_the_nearest(
    tmp_path: Path, penalties: tuple[float, ...], kept: float
) -> None:
    done, _ = trained(tmp_path, 2, f"translator.penalties={list(penalties)}")
    assert done.scores["bleu"] < 1
    assert done.ranked.kept == read_card(done.folder / "best").penalty == kept


@pytest.mark.parametrize("penalties", [[], [-0.1], [0.6, 11.0]])
def test_penalties_that_are_none_are_refused(penalties: list[float]) -> None:
    with pytest.raises(ConfigError, match="penalties"):
        build(Translating, {"penalties": penalties}, "run.toml")
    with pytest.raises(ConfigError, match="penalties"):
        read_settings("translate-tiny", None, [f"translator.penalties={penalties}"])

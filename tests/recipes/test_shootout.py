"""A shoot-out gives every objective the same compute and tokens, keeps what is finished, and invents no winner."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recipes.pretend import pretend_to_train, reviews, write_rows
from report.test_page import Reader
from train.small_corpus import small_settings

from headstart.checkpoint import Card, build, load, save
from headstart.cli.shooting import tell_shootout
from headstart.errors import ConfigError, RunError
from headstart.model.bill import work
from headstart.model.shape import Shape
from headstart.recipes.comparing import answers
from headstart.recipes.finetune import FineTuned
from headstart.recipes.predict import Prediction
from headstart.recipes.pretrain import Pretrained
from headstart.recipes.pretraining.objectives import OBJECTIVES
from headstart.recipes.shooting.counted_work import batch_operations
from headstart.recipes.shootout import Rules, ShootoutTools, shootout
from headstart.report.shootout import shootout_page
from headstart.text.readers import read_rows
from headstart.text.records import Row
from headstart.text.store import open_store
from headstart.text.tokenizer import Tokenizer
from headstart.train.transfer import Ledger

SYSTEMS = ("causal", "masked", "bert")
SKILL = {"causal": 0.72, "masked": 0.88, "bert": 0.87, "scratch": 0.6}
QUICK = ("finetune.epochs=1", "finetune.rate=1e-2", "model.vocabulary=300", "reading.text_column=text")


def rules(folder: Path, **changes: Any) -> Rules:
    """A corpus of reviews, 60 labelled rows to train on, 40 to choose on, 300 to test on, three of which leak."""
    if not (folder / "corpus.txt").exists():
        corpus, test = [row["text"] for row in reviews(150, 5)], reviews(300, 3)
        (folder / "corpus.txt").write_text("\n".join([*corpus, *(row["text"] for row in test[:3])]), "utf-8")
        for name, rows in (("train", reviews(60, 1)), ("valid", reviews(40, 2)), ("test", test)):
            write_rows(folder / f"{name}.jsonl", rows)
    given: dict[str, Any] = {name: str(folder / f"{name}.jsonl") for name in ("train", "valid", "test")}
    given |= {"corpus": (str(folder / "corpus.txt"),), "out": folder / "so", "minutes": 0.002, "seeds": (0, 1)}
    return Rules(**{**given, "settings": small_settings(*QUICK), "device": "cpu", **changes})


def pretend_to_pretrain(corpus: list[str], out: Path, *, stop: Any, objective: Any, **given: Any) -> Pretrained:
    """A run whose weights are those that it was born with."""
    tokenizer = Tokenizer.load(given["tokenizer"])
    shape = Shape(vocabulary=tokenizer.size, width=8, depth=1, heads=2, hidden=16, context=32)
    kind = OBJECTIVES[objective]
    card = Card(task=kind.task, shape=replace(shape, segments=kind.segments), causal=kind.causal)
    save(out / "best", build(kind.task, card.shape), card, tokenizer)
    steps = stop.steps or round(6000 * stop.minutes)
    scores = {"bits_per_byte": 2.5, "perplexity": 20.0} if kind.causal else {"masked_loss": 4.0}
    return Pretrained(
        out, objective, steps, 64 * steps, 60.0 * stop.minutes + steps, scores, Ledger("", {}, {}, {}), ()
    )


def skill(run: Path) -> float:
    return SKILL[run.name.split("-")[0]]


def pretend_to_finetune(train: Sequence[Row], valid: Sequence[Row], *, out: Path, **given: Any) -> FineTuned:
    done = pretend_to_train(train, valid, out=out.parent / "pretrained-seed-0", **given)
    (out / "best").mkdir(parents=True, exist_ok=True)
    return replace(done, folder=out)


def pretend_to_predict(run: Path, rows: Sequence[Row], device: str = "auto") -> list[Prediction]:
    """As often right as the skill of the run says; the label is in the order of the rows, which no model can see."""
    assert not any(row.label for row in rows)
    luck = np.random.default_rng(7).random(len(rows)) + 0.02 * np.random.default_rng(len(run.name)).random(len(rows))
    right = [(place % 2 == 0) == (draw < skill(run)) for place, draw in enumerate(luck)]
    return [Prediction("good" if good else "bad", 0.8, (0.2, 0.8) if good else (0.8, 0.2)) for good in right]


PRETENDED = ShootoutTools(finetune=pretend_to_finetune, predict=pretend_to_predict, pretrain=pretend_to_pretrain)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Rules:
    """A whole one, with real if tiny models."""
    asked = rules(tmp_path_factory.mktemp("real"))
    shootout(asked)
    return asked


def scores_in(asked: Rules) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((asked.out / "scores.json").read_text("utf-8"))
    return found


def test_all_bodies_read_the_same_tokens_in_one_shape(real: Rules) -> None:
    saved = {name: load(real.out / name) for name in real.objectives}
    assert {each.card.tokenizer for each in saved.values()} == {Tokenizer.load(real.out / "tokenizer").hash}
    assert len({replace(each.card.shape, segments=0) for each in saved.values()}) == 1
    stores = [open_store(real.out / name / "tokens").card for name in real.objectives]
    assert stores == [open_store(real.out / "tokens").card] * 3
    assert saved["causal"].tokenizer.bidirectional
    assert [saved[name].card.causal for name in real.objectives] == [True, False, False]


def test_the_report_has_every_system_its_cost_and_what_leaks(real: Rules) -> None:
    scores = scores_in(real)
    names = [system["name"] for system in scores["systems"]]
    assert names == ["causal", "masked", "bert", "characters", "words", "majority"]
    assert scores["leaks"]["test_rows"] == 3
    assert all(system["accuracy_without_leaks"] for system in scores["systems"])
    costs = {run["objective"]: run for run in scores["pretraining"]}
    assert costs["causal"]["bits_per_byte"] > 0
    assert costs["masked"]["bits_per_byte"] is None
    assert all(run["operations"] > 0 and run["tokens"] > 0 and run["seconds"] > 0 for run in costs.values())
    shown = Reader((real.out / "report.html").read_text("utf-8"))
    assert not shown.open
    for sentence in (scores["verdict"]["sentence"], *scores["verdict"]["remarks"]):
        assert sentence in shown.text
    assert "nor does that of masked with that of bert" in " ".join(shown.text.split())
    assert "script" not in shown.tags


def test_resumed_when_all_is_done_nothing_is_trained_again(real: Rules) -> None:
    def never(*given: Any, **more: Any) -> Any:
        raise AssertionError("trained")

    before = scores_in(real)
    shootout(real, resume=True, tools=ShootoutTools(finetune=never, predict=never, pretrain=never))
    assert scores_in(real) == before
    with pytest.raises(RunError, match="minutes was"):
        shootout(replace(real, minutes=1.0), resume=True)
    with pytest.raises(RunError, match="--resume"):
        shootout(real)


def test_a_crash_loses_no_body_and_no_arm(tmp_path: Path) -> None:
    asked, done = rules(tmp_path), []

    def crash_at(count: int, job: Any, name: Any) -> Any:
        def counted(*given: Any, **more: Any) -> Any:
            done.append(name(given, more))
            if len(done) == count:
                raise KeyboardInterrupt
            return job(*given, **more)

        return counted

    def pretrain_then(count: int) -> ShootoutTools:
        return replace(
            PRETENDED,
            pretrain=crash_at(count, pretend_to_pretrain, lambda given, more: given[1].name),
            finetune=crash_at(count, pretend_to_finetune, lambda given, more: more["out"].name),
        )

    for count in (2, 5):
        with pytest.raises(KeyboardInterrupt):
            shootout(asked, resume=True, tools=pretrain_then(count))
        assert not (asked.out / "scores.json").exists()
    shootout(asked, resume=True, tools=pretrain_then(0))
    arms = [f"{name}-seed-{seed}" for seed in (0, 1) for name in asked.objectives]
    assert done == ["causal", "masked", "masked", "bert", arms[0], *arms]
    whole = shootout(replace(asked, out=tmp_path / "whole"), tools=PRETENDED)
    same = ("comparisons", "mistakes", "leaks", "by_epoch")
    assert {name: scores_in(asked)[name] for name in same} == {name: whole.scores[name] for name in same}


def test_equal_flops_are_equal(tmp_path: Path) -> None:
    asked = rules(tmp_path, equal="flops", minutes=0.1)
    scores = shootout(asked, tools=PRETENDED).scores
    done = {run["objective"]: run for run in scores["pretraining"]}
    counted = [run["operations"] / run["tokens"] * 64 * run["steps"] for run in done.values()]
    assert counted == pytest.approx([counted[0]] * 3, rel=0.05)
    assert len({run["steps"] for run in done.values()}) > 1
    assert "t equal FLOPs" in scores["verdict"]["sentence"]
    with pytest.raises(RunError, match="first was causal, now masked"):
        shootout(replace(asked, objectives=("masked", "causal")), resume=True, tools=PRETENDED)


def test_a_batch_costs_what_the_bill_says(tmp_path: Path) -> None:
    """Where every position is a target, the count is the bill's; hidden tokens cost a head only where they stand."""
    asked = rules(tmp_path)
    shootout(replace(asked, objectives=("causal", "masked")), tools=PRETENDED)
    store, tokenizer = open_store(asked.out / "tokens"), Tokenizer.load(asked.out / "tokenizer")
    settings = replace(asked.settings, model=replace(asked.settings.model, vocabulary=tokenizer.size))
    windows = OBJECTIVES["causal"].windows(store.train, settings.data, tokenizer, 0)
    batch = windows.batch(0, 0)
    batch = replace(batch, targets=batch.targets.clamp(min=5))
    each = work(settings.model, "lm", length=batch.ids.shape[1])
    assert batch_operations(OBJECTIVES["causal"], settings, batch) == batch.ids.numel() * each.training
    assert batch_operations(OBJECTIVES["masked"], settings, replace(batch, targets=batch.targets * 0 - 100)) == (
        batch.ids.numel() * 3 * round(each.forward * (1 - each.output_share))
    )


def test_a_difference_is_named_and_noise_is_called_noise(tmp_path: Path) -> None:
    asked = rules(tmp_path, label_counts=(20,), scratch=True)
    scores = shootout(asked, tools=PRETENDED).scores
    assert scores["verdict"]["leader"] in ("masked", "bert")
    assert (scores["verdict"]["outcome"], scores["verdict"]["ahead_of"]) == ("partly", ["causal"])
    assert "cannot be told apart" in scores["verdict"]["sentence"]
    assert any("pretrained once" in remark for remark in scores["verdict"]["remarks"])
    assert {"scratch-causal", "scratch-bidirectional"} < {system["name"] for system in scores["systems"]}
    pairs = {(pair["first"], pair["second"]): pair for pair in scores["comparisons"]}
    assert pairs["causal", "masked"]["p_adjusted"] >= pairs["causal", "masked"]["p"]
    assert pairs["bert", "scratch-bidirectional"]["difference"]["low"] > 0
    assert [lead["labels"] for lead in scores["label_curve"]["leads"]] == [20, 60]
    assert Reader(shootout_page(scores, asked.out)).tags.count("svg") == 3


def test_bodies_are_read_at_cls_where_they_have_one_and_the_report_says_so(tmp_path: Path) -> None:
    asked = rules(tmp_path, seeds=(0,), settings=small_settings(*QUICK, "finetune.pooling=first"))
    remarks = shootout(asked, tools=PRETENDED).scores["verdict"]["remarks"]
    said = "causal is read at the last token of a text; masked and bert are read at <cls>. finetune.pooling is"
    assert any(said in remark for remark in remarks)
    inputs = {name: json.loads((asked.out / "arms" / f"{name}-seed-0" / "inputs.json").read_text()) for name in SYSTEMS}
    assert {name: table["finetune"]["pooling"] for name, table in inputs.items()} == {
        "causal": "auto",
        "masked": "first",
        "bert": "first",
    }


def test_a_step_that_reads_much_less_is_told(tmp_path: Path) -> None:
    def longer(*given: Any, objective: Any, **more: Any) -> Pretrained:
        done = pretend_to_pretrain(*given, objective=objective, **more)
        return replace(done, tokens=done.tokens * (2 if objective == "causal" else 1))

    even, uneven = (replace(PRETENDED, pretrain=pretrain) for pretrain in (pretend_to_pretrain, longer))
    for name, tools in (("even", even), ("uneven", uneven)):
        (tmp_path / name).mkdir()
        scores = shootout(rules(tmp_path / name, seeds=(0,)), tools=tools).scores
        told = [remark for remark in scores["verdict"]["remarks"] if "A step is not the same" in remark]
        assert [("causal 128, masked 64 and bert 64" in remark) for remark in told] == [True] * (name == "uneven")


def test_the_terminal_says_which_losses_do_not_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for objectives, said in ((("causal", "bert"), False), (("causal", "masked", "bert"), True)):
        folder = tmp_path / str(said)
        folder.mkdir()
        tell_shootout(shootout(rules(folder, seeds=(0,), objectives=objectives), tools=PRETENDED).scores)
        assert ("losses of masked and bert do not compare" in " ".join(capsys.readouterr().out.split())) == said


def test_the_test_stays_closed_until_every_arm_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, opened = rules(tmp_path, seeds=(0,)), []
    whole = read_rows

    def watched(spec: str, *given: Any, **more: Any) -> Any:
        opened.append(len(list((asked.out / "arms").glob("*/result.json"))))
        return whole(spec, *given, **more)

    monkeypatch.setattr(answers, "read_rows", watched)
    shootout(asked, tools=PRETENDED)
    assert opened == [3 + 3]


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"objectives": ("causal",)}, "two or three"),
        ({"objectives": ("causal", "masks")}, "no 'masks'"),
        ({"minutes": 0.0}, "above 0"),
        ({"corpus": ("-",)}, "piped"),
        ({"seeds": ()}, "--seeds"),
        ({"settings": small_settings("data.length=5")}, "objective bert needs 7"),
        ({"label_counts": (1,)}, "from 2"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(
    change: dict[str, Any], advice: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=advice):
        shootout(rules(tmp_path, **change), tools=PRETENDED)
    assert not (tmp_path / "so").exists()


def test_force_begins_anew_with_other_rules(tmp_path: Path) -> None:
    asked = rules(tmp_path, seeds=(0,), objectives=("causal", "masked"))
    shootout(asked, tools=PRETENDED)
    given = asked.out / "tokenizer"
    given.rename(tmp_path / "mine")
    changed = replace(asked, minutes=0.004, objectives=("masked", "bert"), tokenizer=tmp_path / "mine")
    scores = shootout(changed, force=True, tools=PRETENDED).scores
    assert scores["objectives"] == ["masked", "bert"]
    assert not (asked.out / "causal").exists()

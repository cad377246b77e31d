"""The comparison keeps its finished arms, closes the test until the end, and says what is true."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recipes.pretend import (
    PRETENDED,
    finished_comparison,
    pretend_to_predict,
    pretend_to_train,
    request,
    reviews,
    write_rows,
)

from headstart.errors import ConfigError, DataError, RunError
from headstart.evaluate.subsets import nested_order
from headstart.recipes.compare import Tools, compare
from headstart.recipes.comparing import answers
from headstart.recipes.comparing.plan import plan, prepare
from headstart.recipes.finetune import FineTuned
from headstart.recipes.settings import Settings
from headstart.text.readers import Corpus, read_rows
from headstart.text.records import Row
from headstart.text.store import open_store
from headstart.text.stream import build_store
from headstart.text.tokenizer import Tokenizer
from headstart.train.lock import Lock
from headstart.train.settings import FineTuning


@pytest.fixture(scope="module")
def finished() -> Path:
    return finished_comparison()


def read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "cmp" / "scores.json").read_text("utf-8"))
    return found


def test_every_arm_has_its_folder_and_the_report_its_place(finished: Path) -> None:
    arms = {path.name for path in (finished / "cmp" / "arms").iterdir()}
    assert {"pretrained-seed-0", "scratch-seed-2", "majority", "words", "characters"} < arms
    assert {"pretrained-20-labels-seed-1", "words-80-labels-seed-2"} < arms
    assert len(arms) == 2 * 3 + 3 + 2 * 3 * 4
    assert (finished / "cmp" / "report.html").is_file()
    assert not list((finished / "cmp").rglob("*.new"))


def test_the_numbers_are_those_of_the_answers(finished: Path) -> None:
    scores, rows = (
        read(finished),
        [json.loads(line) for line in (finished / "test.jsonl").read_text("utf-8").splitlines()],
    )
    blind = [Row(row["text"], "", 0) for row in rows]
    for system in scores["systems"][:2]:
        for seed in system["seeds"]:
            said = pretend_to_predict(Path(f"{system['name']}-seed-{seed['seed']}"), blind)
            right = [answer.label == row["label"] for answer, row in zip(said, rows)]
            assert seed["accuracy"] == pytest.approx(np.mean(right))
    pretrained, scratch = scores["systems"][:2]
    gap = scores["comparisons"][0]
    assert (gap["first"], gap["second"]) == ("pretrained", "scratch")
    assert gap["difference"]["value"] == pytest.approx(pretrained["accuracy"]["value"] - scratch["accuracy"]["value"])
    assert np.array(pretrained["confusion"]).sum() == 3 * 400


def test_leaked_rows_are_found_and_scores_given_without_them(finished: Path) -> None:
    scores = read(finished)
    assert scores["leaks"]["test_rows"] == 5
    assert scores["leaks"]["places"][0].endswith("test.jsonl:41")
    assert any("without them the verdict is the same" in remark for remark in scores["verdict"]["remarks"])
    words = next(system for system in scores["systems"] if system["name"] == "words")
    assert words["accuracy"]["value"] != words["accuracy_without_leaks"]["value"]


def test_both_models_of_a_seed_learn_from_the_same_rows_and_fewer_lie_within_more(finished: Path) -> None:
    bench = prepare(request(finished), lambda sentence: None)
    arms = {arm.name: arm for arm in plan(request(finished), bench)}
    for seed in (0, 1, 2):
        few, more = (arms[f"scratch-{n}-labels-seed-{seed}"].rows for n in (20, 80))
        assert few == arms[f"pretrained-20-labels-seed-{seed}"].rows == arms[f"words-20-labels-seed-{seed}"].rows
        assert set(few) < set(more)
        labels = [bench.train[row].label for row in few]
        assert labels.count("good") == labels.count("bad") == 10
    assert arms["scratch-20-labels-seed-0"].rows != arms["scratch-20-labels-seed-1"].rows


def test_test_labels_stay_closed_until_every_arm_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    opened: list[int] = []
    whole = read_rows

    def watched(spec: str, *given: Any, **more: Any) -> Any:
        opened.append(len(list((tmp_path / "cmp" / "arms").glob("*/result.json"))))
        return whole(spec, *given, **more)

    def train(train: Sequence[Row], valid: Sequence[Row], **given: Any) -> FineTuned:
        assert not opened
        assert not any(row.source.endswith("test.jsonl") for row in (*train, *valid))
        return pretend_to_train(train, valid, **given)

    monkeypatch.setattr(answers, "read_rows", watched)
    bench = prepare(asked, lambda sentence: None)
    assert not any(row.label for row in bench.test)
    compare(asked, tools=replace(PRETENDED, finetune=train))
    assert opened == [5]


def test_finished_arms_are_kept_and_resume_does_the_rest(tmp_path: Path) -> None:
    asked, trained = request(tmp_path, label_counts=()), []

    def train(train: Sequence[Row], valid: Sequence[Row], *, out: Path, **given: Any) -> FineTuned:
        trained.append(out.name)
        if len(trained) == 3:
            raise KeyboardInterrupt
        return pretend_to_train(train, valid, out=out, **given)

    tools = replace(PRETENDED, finetune=train)
    with pytest.raises(KeyboardInterrupt):
        compare(asked, tools=tools)
    assert not (tmp_path / "cmp" / "scores.json").exists()
    with pytest.raises(RunError, match="--resume"):
        compare(asked, tools=tools)
    broken = trained.copy()
    compare(asked, resume=True, tools=tools)
    assert trained[3:] == [broken[2], "scratch-seed-1", "pretrained-seed-2", "scratch-seed-2"]
    whole = compare(replace(asked, out=tmp_path / "whole"), tools=PRETENDED)
    same = ("comparisons", "by_epoch", "mistakes", "leaks")
    assert {name: read(tmp_path)[name] for name in same} == {name: whole.scores[name] for name in same}


def test_seeds_may_be_added_and_the_second_opening_is_told(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0, 1), label_counts=())
    assert compare(asked, tools=PRETENDED).scores["test_openings"] == 1
    assert compare(asked, resume=True, tools=PRETENDED).scores["test_openings"] == 1
    more = compare(replace(asked, seeds=(0, 1, 2)), resume=True, tools=PRETENDED).scores
    assert more["test_openings"] == 2
    assert any("opened 2 times" in remark for remark in more["verdict"]["remarks"])
    with pytest.raises(RunError, match="a report leaves no result out"):
        compare(asked, resume=True, tools=PRETENDED)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"settings": Settings(finetune=FineTuning(epochs=6, rate=1e-5))}, "finetune.rate was 0.0003, now 1e-05"),
        ({"valid": "train.jsonl"}, "valid was"),
        ({"train": "valid.jsonl"}, "train was"),
    ],
)
def test_changed_inputs_are_refused_with_the_difference(
    finished: Path, change: dict[str, Any], difference: str
) -> None:
    change = {name: str(finished / value) if isinstance(value, str) else value for name, value in change.items()}
    with pytest.raises(RunError, match=difference):
        compare(request(finished, label_counts=(20, 80), **change), resume=True, tools=PRETENDED)


def test_another_parent_is_refused(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    compare(asked, tools=PRETENDED)
    card = tmp_path / "run" / "best" / "manifest.json"
    card.write_text(card.read_text().replace('"format": 1', '"format":  1'))
    with pytest.raises(RunError, match="from was"):
        compare(asked, resume=True, tools=PRETENDED)


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    with Lock(asked.out), pytest.raises(RunError, match="is writing here"):
        compare(asked, resume=True, tools=PRETENDED)


def test_force_begins_anew(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    compare(asked, tools=PRETENDED)
    changed = replace(asked, settings=Settings(finetune=FineTuning(epochs=2)))
    assert len(compare(changed, force=True, tools=PRETENDED).scores["by_epoch"]["scratch"]) == 2


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    compare(asked, tools=PRETENDED)
    (tmp_path / "cmp" / "arms" / "words" / "result.json").write_text("{")
    with pytest.raises(RunError, match=r"words.result\.json: damaged"):
        compare(asked, resume=True, tools=PRETENDED)


def test_impossible_requests_are_refused_before_any_training(tmp_path: Path) -> None:
    def never(*given: Any, **more: Any) -> FineTuned:
        raise AssertionError("trained")

    tools = Tools(finetune=never, predict=pretend_to_predict)
    with pytest.raises(ConfigError, match=r"from 2 .* to 240"):
        compare(request(tmp_path, label_counts=(1,)), tools=tools)
    mixed = Settings(finetune=FineTuning(baseline=True))
    with pytest.raises(ConfigError, match="judged alone"):
        replace(request(tmp_path), settings=mixed)
    with pytest.raises(ConfigError, match="--seeds"):
        request(tmp_path, seeds=())
    strange = write_rows(tmp_path / "strange.jsonl", [*reviews(4, 0), {"text": "x", "label": "odd"}])
    with pytest.raises(DataError, match=r"strange\.jsonl:5: label 'odd'"):
        compare(request(tmp_path, valid=strange, out=tmp_path / "b"), tools=tools)
    unlabelled = write_rows(tmp_path / "unlabelled.jsonl", [*reviews(4, 0), {"text": "x", "label": ""}])
    with pytest.raises(DataError, match=r"unlabelled\.jsonl:5"):
        compare(request(tmp_path, test=unlabelled, out=tmp_path / "c"), tools=tools)


def test_a_label_that_only_the_test_has_counts_as_a_mistake(tmp_path: Path) -> None:
    rows = [*reviews(40, 5), {"text": "ni l'un ni l'autre", "label": "odd"}]
    asked = request(tmp_path, seeds=(0,), label_counts=(), test=write_rows(tmp_path / "odd.jsonl", rows))
    scores = compare(asked, tools=PRETENDED).scores
    assert scores["labels"] == ["bad", "good", "odd"]
    assert sum(scores["systems"][0]["confusion"][2]) == 1
    assert any("a label that training never had" in remark for remark in scores["verdict"]["remarks"])


def test_texts_in_the_pretraining_tokens_are_leaks_too(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    test = [json.loads(line)["text"] for line in Path(asked.test).read_text("utf-8").splitlines()]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(["un texte qui ne sert à rien du tout", *test[100:103]] * 30), "utf-8")
    tokenizer = Tokenizer.load(asked.run / "best" / "tokenizer")
    build_store(Corpus([corpus]), tokenizer, asked.run / "tokens", holdout=0.1)
    assert open_store(asked.run / "tokens").train.documents
    leaks = prepare(asked, lambda sentence: None).leaks
    assert {100, 101, 102} <= leaks.rows
    assert len(leaks.rows) == 8
    named = prepare(replace(asked, corpus=(str(corpus),)), lambda sentence: None).leaks
    assert named.rows == leaks.rows
    assert "not the very one" in named.corpus


def test_a_beginning_of_the_order_is_fair_and_holds_every_class() -> None:
    labels = ["a"] * 700 + ["b"] * 290 + ["c"] * 10
    order = nested_order(labels, 3)
    assert sorted(order) == list(range(1000))
    assert {labels[row] for row in order[:3]} == {"a", "b", "c"}
    found = [labels[row] for row in order[:100]]
    assert found.count("a") == pytest.approx(70, abs=2)
    assert found.count("b") == pytest.approx(29, abs=2)
    assert nested_order(labels, 3) == order
    assert nested_order(labels, 4) != order


def test_torchrun_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = request(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match="without torchrun"):
        compare(asked, tools=PRETENDED)
    assert not asked.out.exists()


def test_unlabelled_texts_are_guessed_in_every_neural_arm_and_never_those_of_the_test(tmp_path: Path) -> None:
    asked = request(tmp_path, seeds=(0,), label_counts=())
    more = [*reviews(30, 7), *map(json.loads, Path(asked.test).read_text("utf-8").splitlines()[:10])]
    files = (write_rows(tmp_path / "more.jsonl", [{"text": row["text"]} for row in more]),)
    given: dict[str, list[str]] = {}

    def pretend_to_self_train(*rows: Sequence[Row], unlabelled: Sequence[Row], out: Path, **how: Any) -> FineTuned:
        given[out.name] = [row.text for row in unlabelled]
        (out / "teacher").mkdir(parents=True)
        return pretend_to_train(*rows, out=out, **how)

    tools = replace(PRETENDED, self_train=pretend_to_self_train)
    scores = compare(replace(asked, unlabelled=files), tools=tools).scores
    assert set(given) == {"pretrained-seed-0", "scratch-seed-0"}
    assert all(texts == [row["text"] for row in more[:30]] for texts in given.values())
    assert any("guessed for 30 unlabelled texts" in sentence for sentence in scores["leaks"]["sentences"])
    assert not (tmp_path / "cmp" / "arms" / "scratch-seed-0" / "teacher").exists()
    with pytest.raises(RunError, match="unlabelled was"):
        compare(asked, resume=True, tools=tools)
    only_test = replace(asked, unlabelled=(asked.test,), out=tmp_path / "other")
    with pytest.raises(DataError, match="every text of it stands in"):
        compare(only_test, tools=tools)

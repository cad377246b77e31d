"""Every contender does every job on the same tiny texts; what is compared is the same work."""

import argparse
import importlib
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import equal_minutes, figure, growth, same_accuracy, table, warm_start
from benchmarks.areas import AREAS, HUGGING_FACE, LAB, OURS, PEERS, SAMPLED
from benchmarks.limits import Processor, limits
from benchmarks.memory import peak_memory
from benchmarks.side_by_side import Contender, Result, bare_memory, measure
from benchmarks.texts import PARTS, Amounts, Texts, lay_out
from headstart.text.readers import Corpus
from headstart.text.records import Row

WORDS = ["un", "film", "livre", "très", "bon", "lent", "drôle", "triste", "acteur", "page", "fin", "début", "été", "où"]
AMOUNTS = Amounts(steps=1, train_texts=8, test_texts=6, written=4, vocabulary=300)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Texts:
    folder, chance = tmp_path_factory.mktemp("texts"), random.Random(0)
    reviews = [" ".join(chance.choices(WORDS, k=chance.randint(20, 60))) for _ in range(200)]
    (folder / "corpus.txt").write_text("".join(f"{review}\n" for review in reviews), "utf-8")
    rows = [Row(review, "made up", 1, label=str(number % 2)) for number, review in enumerate(reviews[:40])]
    return lay_out(folder, AMOUNTS, Corpus([folder / "corpus.txt"]), dict.fromkeys(PARTS, rows), None)


@pytest.mark.parametrize("contender", [c for area in AREAS.values() for c in area.contenders], ids=str)
def test_each_job_does_its_share(texts: Texts, contender: Contender) -> None:
    if contender.peer == "hugging_face":
        pytest.importorskip("transformers", reason="pip install 'headstart[bench]'")
    done = getattr(importlib.import_module(f"benchmarks.peers.{contender.peer}"), contender.job)(texts)(1.0)
    kind = contender.job.split("_")[0]
    tokens = {"write_one": 4, "write_many": 4 * 32, "train_exact": 16 * 128, "train_sampled": 16 * 128}
    assert done == tokens.get(contender.job, {"finetune": 8, "predict": 6}.get(kind))


def test_hugging_face_cuts_the_texts_as_we_do(texts: Texts) -> None:
    pytest.importorskip("transformers", reason="pip install 'headstart[bench]'")
    from benchmarks.peers.hugging_face import fast_tokenizer

    cutter = fast_tokenizer(texts)
    for row in texts.test:
        assert cutter(row.text).input_ids == [0, *texts.tokenizer.encode(row.text)]


@pytest.mark.parametrize("peer", ["lab_loop", "hugging_face"])
def test_the_peers_learn_the_same_targets(texts: Texts, peer: str) -> None:
    """A class that shifted the targets once too often would be compared at another task."""
    if peer == "hugging_face":
        pytest.importorskip("transformers", reason="pip install 'headstart[bench]'")
    import torch
    import torch.nn.functional as F

    module = importlib.import_module(f"benchmarks.peers.{peer}")
    model, batch = module.language_model(texts).eval(), texts.windows().batch(0, 0)
    with torch.no_grad():
        found = module.loss_of(model, batch.ids, batch.targets)
        scores = model(batch.ids.t()).transpose(0, 1) if peer == "lab_loop" else model(input_ids=batch.ids).logits
    torch.testing.assert_close(found, F.cross_entropy(scores.flatten(0, 1), batch.targets.flatten()))


def test_a_contender_that_fails_is_named_and_left_out(texts: Texts) -> None:
    said: list[str] = []
    contenders = [Contender("works", "lab_loop", "predict"), Contender("fails", "lab_loop", "no such job")]
    found = measure(contenders, texts, 2, said.append)
    assert list(found) == ["works"]
    assert len(found["works"].rates) == 2
    assert "fails is left out" in said[0]


def test_bare_memory_does_not_depend_on_who_asks() -> None:
    """A large parent must not make the bare process look large, and so its contenders small."""
    before, ballast = bare_memory(), np.ones(100_000_000)  # 800 MB
    assert bare_memory() == pytest.approx(before, rel=0.1)
    assert peak_memory() > ballast.nbytes


def test_ratios_are_taken_repeat_by_repeat() -> None:
    results = {name: Result(name, rates, 10**7) for name, rates in ((OURS, (4.0, 9.0)), (HUGGING_FACE, (2.0, 3.0)))}
    shown = "\n".join(table.lines(AREAS["prediction"], results, 100.0))
    assert "2.50 [2.00, 3.00]" in shown
    assert "–" in shown, "the lab's loop is not there"


def test_the_limit_of_the_lab_shape(texts: Texts) -> None:
    """66 MFLOP a token in training, and 44 MB of weights to be read for each token written."""
    from headstart.recipes.settings import read_settings

    most = limits(Processor(134e9, 11e9, 2), texts, read_settings("lab").model)
    assert 1_900 < most["training"] < 2_050
    assert 240 < most["writing 1"] < 260


def test_equal_minutes_writes_a_curve_for_each(texts: Texts, tmp_path: Path) -> None:
    class Answers(list[object]):
        put = list.append

    curves = {}
    for name in (OURS, SAMPLED, LAB):
        answers = Answers()
        equal_minutes.train(name, texts, 0.5, answers)
        curves[name] = answers[0]
    equal_minutes.draw({"curves": curves}, tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size > 1_000
    assert all(points[0]["seconds"] == 0 < points[-1]["tokens"] for points in curves.values())  # type: ignore[index]


def test_growth_and_the_picture(texts: Texts, tmp_path: Path) -> None:
    found = growth.measure(texts, tmp_path, [], quick=True)
    assert [row["copies"] for row in found["corpus"]] == [1, 4]
    assert all(row["rate"] > 0 for row in found["vocabulary"] + found["length"])
    results = {name: {"rates": [2.0, 3.0]} for name in (OURS, LAB, HUGGING_FACE)}
    figure.draw({"areas": {"training": {"results": results}}}, tmp_path / "bars.svg")
    assert "training: Hugging Face" in (tmp_path / "bars.svg").read_text("utf-8")


def test_both_learn_the_same_task(texts: Texts) -> None:
    """A word that decides the label, learnt by both."""
    pytest.importorskip("transformers", reason="pip install 'headstart[bench]'")
    rows = [replace(row, text=f"{row.text} {'bon' if row.label == '1' else 'lent'}") for row in texts.train * 12]
    texts = Texts(texts.folder, texts.amounts)
    texts.__dict__["train"] = texts.__dict__["valid"] = rows
    assert same_accuracy.ours(texts, 12, 0) > 0.9
    assert same_accuracy.hugging_face(texts, 12, 0) > 0.9


def test_all_three_are_measured_in_every_area() -> None:
    assert all({*PEERS} <= {contender.name for contender in area.contenders} for area in AREAS.values())


def test_arms_of_a_warm_start_differ_in_their_start_only() -> None:
    given = argparse.Namespace(train="a:b", valid="c:d", minutes=1.0, out=Path("out"), set=["train.decay=cosine"])
    warm, cold = (set(warm_start.arm_words(arm, given, 3)) for arm in warm_start.ARMS)
    assert warm - cold == {"--from", "out/body", "--separate", "out/warm-3"}
    assert cold - warm == {"--source-tokenizer", "out/body/best/tokenizer", "out/cold-3"}


def test_a_warm_start_is_told_by_its_gain() -> None:
    rows = [
        {
            "arm": arm,
            "seed": seed,
            "valid": {"bleu": bleu, "bits_per_byte": 0.5},
            "test": {"scores": {"bleu": {"value": bleu + 1}}},
        }
        for arm, bleu in (("warm", 30.0), ("cold", 28.5))
        for seed in range(2)
    ]
    told = warm_start.lines(rows)
    assert told[0] == "warm: BLEU valid 30.00 (30.00 30.00), test 31.00 (31.00 31.00); bits per byte 0.500"
    assert told[2] == "warm - cold: +1.50 on validation, +1.50 on test"

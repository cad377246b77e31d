"""Fine-tuning bodies that look both ways, and pairs of texts with either kind of body."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import load
from headstart.errors import ConfigError, DataError
from headstart.recipes.check_model import check_run
from headstart.recipes.classify import finetune_files
from headstart.recipes.comparing.plan import Request, prepare
from headstart.recipes.evaluate import evaluate_file
from headstart.recipes.predict import predict_rows
from headstart.recipes.pretrain import pretrain
from headstart.recipes.pretraining.objectives import Name
from headstart.recipes.running.stopping import StopRule
from headstart.text.records import Reading, Row

GOOD, BAD, OTHER = ["lovely", "warm"], ["awful", "cold"], ["the", "cat", "saw", "garden"]
QUICK = ("finetune.epochs=6", "finetune.rows=8", "finetune.dropout=0.0", "finetune.rate=1e-2")
SCRATCH = ("finetune.scratch_rate=1e-2", "model.segments=2")


def sentence(draw: random.Random, word: str) -> str:
    words = draw.choices(OTHER, k=draw.randint(1, 4))
    words.insert(draw.randint(0, len(words)), word)
    return " ".join(words)


def pairs(folder: Path, rows: int, name: str) -> str:
    """The second text decides the label; the first one says anything."""
    draw, lines = random.Random(name), ["label\ttext\ttext_b"]
    for i in range(rows):
        label, words = ("good", GOOD) if i % 2 else ("bad", BAD)
        lines.append(f"{label}\t{sentence(draw, draw.choice(GOOD + BAD))}\t{sentence(draw, draw.choice(words))}")
    (folder / name).write_text("\n".join(lines) + "\n")
    return str(folder / name)


def singles(folder: Path, rows: int, name: str) -> str:
    draw, kinds = random.Random(name), (("bad", BAD), ("good", GOOD))
    lines = [f"{label}\t{sentence(draw, draw.choice(words))}" for label, words in kinds * (rows // 2)]
    (folder / name).write_text("\n".join(["label\ttext", *lines]) + "\n")
    return str(folder / name)


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each objective, with one tokenizer's words."""
    folder = tmp_path_factory.mktemp("bodies")
    corpus = Path(small_corpus(folder))
    corpus.write_text(corpus.read_text() + "\n".join(f"the {word} garden" for word in GOOD + BAD for _ in range(20)))
    for objective in ("causal", "masked", "bert"):
        pretrain(
            [str(corpus)], folder / objective, settings=small_settings(), stop=StopRule(steps=10), objective=objective
        )
    return folder


@pytest.mark.parametrize(
    ("objective", "pooling", "read_at"),
    [("masked", "auto", "mean"), ("bert", "first", "first"), ("causal", "auto", "last")],
)
def test_pairs_of_texts_are_learnt(objective: Name, pooling: str, read_at: str, bodies: Path, tmp_path: Path) -> None:
    settings = small_settings(*QUICK, f"finetune.pooling={pooling}")
    run, train = tmp_path / "clf", pairs(tmp_path, 240, "train.tsv")
    done = finetune_files(train, "", run, start=bodies / objective, settings=settings)
    card = load(run).card
    assert (card.pooling, card.causal) == (read_at, objective == "causal")
    assert set(done.ledger.fresh) == {"head.scores.weight", "head.scores.bias"}
    assert evaluate_file(run, pairs(tmp_path, 100, "test.tsv"), Reading()).scores.accuracy > 0.9
    assert not [check for check in check_run(run) if check.passed is False]


def test_a_row_is_framed_alike_beside_pairs_and_alone(bodies: Path, tmp_path: Path) -> None:
    settings = small_settings(*QUICK, "finetune.epochs=1")
    mixed = pairs(tmp_path, 40, "train.tsv")
    with Path(mixed).open("a") as file:
        file.write("good\tthe warm cat\t\n")
    finetune_files(mixed, "", tmp_path / "clf", start=bodies / "bert", settings=settings)
    single, pair = Row("the cold cat", "", 1), Row("the cold cat", "", 2, text_b="a warm garden")
    together = predict_rows(tmp_path / "clf", [single, pair, replace(single, text="a cat")])
    assert predict_rows(tmp_path / "clf", [single])[0].scores == pytest.approx(together[0].scores, abs=1e-5)
    assert together[0].scores != pytest.approx(together[1].scores, abs=1e-5)


def test_pairs_and_single_texts_are_told_apart(bodies: Path, tmp_path: Path) -> None:
    settings = small_settings(*QUICK, "finetune.epochs=1")
    for name, train in (("two", pairs(tmp_path, 40, "train.tsv")), ("one", singles(tmp_path, 40, "singles.tsv"))):
        finetune_files(train, "", tmp_path / name, start=bodies / "masked", settings=settings)
    single, pair = Row("the cold cat", "rows.csv", 3), Row("the cold cat", "rows.csv", 7, text_b="a warm garden")
    with pytest.raises(DataError, match=r"rows.csv:3: a single text, .* column text_b holds the second"):
        predict_rows(tmp_path / "two", [single, single])
    with pytest.raises(DataError, match=r"rows.csv:7: a pair of texts, .* leave out the column text_b"):
        predict_rows(tmp_path / "one", [pair, pair])
    for name in ("two", "one"):  # a row of the other kind may stand among those that were learnt from
        assert len(predict_rows(tmp_path / name, [pair, single])) == 2
    train, valid = pairs(tmp_path, 40, "train.tsv"), singles(tmp_path, 20, "valid.tsv")
    with pytest.raises(DataError, match=r"valid.tsv:2: a single text"):
        finetune_files(train, valid, tmp_path / "no", start=bodies / "masked", settings=settings)
    assert not (tmp_path / "no").exists()


def test_a_comparison_is_refused_by_its_whole_training_rows_and_before_it_writes(bodies: Path, tmp_path: Path) -> None:
    train, test = pairs(tmp_path, 40, "train.tsv"), singles(tmp_path, 20, "test.tsv")
    request = Request(run=bodies / "masked", train=train, valid=train, test=test, out=tmp_path / "cmp")
    with pytest.raises(DataError, match=r"test.tsv:2: a single text"):
        prepare(request, print)
    with Path(train).open("a") as file:
        file.write("good\tthe warm cat\t\n")
    assert prepare(request, print).test
    assert not request.out.exists()


def test_from_scratch_a_body_can_look_both_ways(tmp_path: Path) -> None:
    settings = small_settings(*QUICK, *SCRATCH)
    finetune_files(pairs(tmp_path, 240, "train.tsv"), "", tmp_path / "clf", start=None, settings=settings, causal=False)
    assert not load(tmp_path / "clf").card.causal
    assert evaluate_file(tmp_path / "clf", pairs(tmp_path, 100, "test.tsv"), Reading()).scores.accuracy > 0.9


def test_a_causal_body_is_not_read_at_its_first_token(bodies: Path, tmp_path: Path) -> None:
    settings = small_settings("finetune.pooling=first")
    with pytest.raises(ConfigError, match="has seen nothing"):
        finetune_files(
            pairs(tmp_path, 20, "train.tsv"), "", tmp_path / "clf", start=bodies / "causal", settings=settings
        )
    assert not (tmp_path / "clf").exists()
    rows, out = pairs(tmp_path, 20, "train.tsv"), tmp_path / "cmp"
    request = Request(run=bodies / "causal", train=rows, valid=rows, test=rows, out=out, settings=settings)
    with pytest.raises(ConfigError, match="has seen nothing"):
        prepare(request, print)

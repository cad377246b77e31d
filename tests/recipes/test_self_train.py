"""Self-training: what the labels never name is learnt from texts without labels, and a kill loses nothing of it."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from model.shapes import small
from train.small_corpus import small_settings

from headstart.data.batch import IGNORED
from headstart.data.labelled import LabelledBatch
from headstart.errors import DataError, RunError
from headstart.model.body import Body
from headstart.model.models import Classifier
from headstart.recipes.classify import finetune_files
from headstart.recipes.evaluate import evaluate_file
from headstart.recipes.guess import Guessed, without_known
from headstart.recipes.running import training
from headstart.text.records import Document, Reading, Row
from headstart.train.objectives import ClassOfText

NAMED = {"good": "lovely", "bad": "awful"}
UNNAMED = {"good": ["bright", "warm", "kind"], "bad": ["dull", "cold", "cruel"]}
SMALL = ("finetune.scratch_rate=3e-3", "finetune.dropout=0.0", "train.save_every=7")


def sentence(draw: random.Random, *words: str) -> str:
    filling = draw.choices(["the", "cat", "saw", "a", "garden", "often"], k=draw.randint(2, 8))
    for word in words:
        filling.insert(draw.randrange(len(filling)), word)
    return " ".join(filling)


def made(folder: Path) -> tuple[str, str, str]:
    """Labels name one word of each class; unlabelled texts put others beside it; the test holds only those others."""
    draw = random.Random(0)
    labels = ["good", "bad"]
    train = [f"{label}\t{sentence(draw, NAMED[label])}" for label in labels * 30]
    test = [f"{label}\t{sentence(draw, draw.choice(UNNAMED[label]))}" for label in labels * 50]
    more = [sentence(draw, NAMED[label], *draw.sample(UNNAMED[label], 2)) for label in labels * 150]
    for name, lines in (
        ("train.tsv", ["label\ttext", *train]),
        ("test.tsv", ["label\ttext", *test]),
        ("more.txt", more),
    ):
        (folder / name).write_text("\n".join(lines) + "\n")
    return str(folder / "train.tsv"), str(folder / "test.tsv"), str(folder / "more.txt")


def test_words_that_no_label_names_are_learnt_from_unlabelled_texts(tmp_path: Path) -> None:
    train, test, more = made(tmp_path)
    settings = small_settings(*SMALL, "finetune.epochs=6")
    finetune_files(train, "", tmp_path / "plain", start=None, settings=settings)
    done = finetune_files(train, "", tmp_path / "clf", start=None, settings=settings, unlabelled=[more])
    assert done.folder == tmp_path / "clf"
    without = evaluate_file(tmp_path / "plain", test, Reading()).scores.accuracy
    teacher = evaluate_file(tmp_path / "clf" / "teacher", test, Reading()).scores.accuracy
    student = evaluate_file(tmp_path / "clf", test, Reading()).scores.accuracy
    assert without < 0.65
    assert teacher < 0.65
    assert student > 0.8


def test_resumed_it_ends_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, _, more = made(tmp_path)
    settings = small_settings(*SMALL, "finetune.epochs=2")
    finetune_files(train, "", tmp_path / "whole", start=None, settings=settings, unlabelled=[more])
    from headstart.train.loop import fit

    left = [5, 3, 20]  # steps until the lights go out: in the teacher, in the teacher again, in the student

    def stopping(*words: object, **named: object) -> object:
        for done, step in enumerate(fit(*words, **named), start=1):  # type: ignore[arg-type]
            yield step
            if left and done == left[0]:
                del left[0]
                raise RuntimeError("the lights went out")

    monkeypatch.setattr(training, "fit", stopping)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="lights"):
            finetune_files(train, "", tmp_path / "run", start=None, settings=settings, unlabelled=[more], resume=True)
    assert not left
    finetune_files(train, "", tmp_path / "run", start=None, settings=settings, unlabelled=[more], resume=True)
    for name in ("teacher/best/model.safetensors", "guesses.npy", "best/model.safetensors", "last/moments.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_other_texts_are_not_gone_on_with_and_force_begins_anew(tmp_path: Path) -> None:
    train, _, more = made(tmp_path)
    settings, out = small_settings(*SMALL, "finetune.epochs=1"), tmp_path / "clf"
    finetune_files(train, "", out, start=None, settings=settings, unlabelled=[more])
    other = tmp_path / "other.txt"
    other.write_text("a warm garden\na cold garden\n")
    with pytest.raises(RunError, match=r"holds guesses for \d+ texts, but there are 2"):
        finetune_files(train, "", out, start=None, settings=settings, unlabelled=[str(other)], resume=True)
    finetune_files(train, "", out, start=None, settings=settings, unlabelled=[str(other)], force=True)
    assert np.load(out / "guesses.npy").shape == (2, 2)
    finetune_files(train, "", out, start=None, settings=settings, force=True)
    assert not (out / "guesses.npy").exists()
    assert not (out / "teacher").exists()


def test_what_cannot_be_guessed_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    train, _, _ = made(tmp_path)
    known = tmp_path / "known.txt"
    known.write_text("\n".join(line.split("\t")[1].upper() for line in Path(train).read_text().splitlines()[1:]))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("label\ttext\ttext_b\n" + "".join(f"{'ab'[i % 2]}\tone {i}\ttwo {i}\n" for i in range(20)))
    settings, out = small_settings(*SMALL), tmp_path / "clf"
    for file, reason in ((train, "every text stands"), (str(pairs), "these rows are pairs")):
        with pytest.raises(DataError, match=reason):
            finetune_files(file, "", out, start=None, settings=settings, unlabelled=[str(known)])
        assert not out.exists()


def test_a_text_stands_once_and_not_beside_its_label() -> None:
    texts = [Document(text, "f", line) for line, text in enumerate(("A cat", "a  CAT", "a dog", "a bird"))]
    assert [row.text for row in without_known(texts, [Row("a dog", "g", 1, label="x")])] == ["A cat", "a bird"]


def test_the_surest_guesses_are_learnt_from_and_sharpened() -> None:
    shares = np.array([[0.5, 0.5], [0.1, 0.9], [0.6, 0.4], [0.8, 0.2]], np.float32)
    kept = Guessed([Row(text, "f", 1) for text in "abcd"], shares).surest(0.5)
    assert [row.text for row in kept.rows] == ["b", "d"]
    np.testing.assert_allclose(kept.shares, [[0.01 / 0.82, 0.81 / 0.82], [0.64 / 0.68, 0.04 / 0.68]], rtol=1e-5)


def test_the_loss_is_torch_s_and_a_worker_without_rows_adds_nothing() -> None:
    torch.manual_seed(0)
    model = Classifier(Body(small(), causal=False), 3, pooling="mean").eval()
    guessed = Guessed([Row("a", "f", 1)], np.array([[0.2, 0.5, 0.3]], np.float32))
    rows, classes, shares = guessed.beside([Row("b", "f", 2)], [2], repeats=2)
    assert [row.text for row in rows] == ["b", "b", "a"]
    assert classes == [2, 2, 1]
    ids, lengths = torch.randint(7, 20, (3, 4)), torch.tensor([4, 4, 4])
    batch = LabelledBatch(ids, lengths, torch.tensor(classes), None, torch.arange(3), torch.from_numpy(shares))
    scores = model(ids, lengths)
    expected = -(torch.from_numpy(shares) * scores.log_softmax(1)).sum()
    torch.testing.assert_close(ClassOfText(model)(batch), expected)
    idle = batch.share(5, 6)
    assert idle.labels.tolist() == [IGNORED]
    assert float(ClassOfText(model)(idle).detach()) == 0.0

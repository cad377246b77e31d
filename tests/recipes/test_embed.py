"""Vectors of texts and of words: the right ones, in order, whole on disk."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from model.shapes import model_of, small
from recipes.planted import masked_run, sentences, tokenizer

from headstart.checkpoint import Card, build, load, save
from headstart.errors import CheckpointError, ConfigError, HeadstartError, RunError
from headstart.model.init import initialise
from headstart.model.models import Classifier
from headstart.recipes import predict
from headstart.recipes.embed import Embedded, embed, embed_lines
from headstart.recipes.vectors import of_texts as text_vectors
from headstart.recipes.vectors import of_words as word_vectors
from headstart.recipes.vectors.of_words import windows
from headstart.recipes.vectors.source import Of, Reading
from headstart.text.records import Row
from headstart.text.storing.long_texts import cut
from headstart.text.words import words

CONTEXT = 16
KINDS: list[Of] = ["texts", "words"]
TEXTS = ["the fish, 😀 and the boat.", "", "old bank " * 30, "a", "Œuvre the thief robbed clerk's coin"]


def rows_of(texts: list[str]) -> list[Row]:
    return [Row(text, "texts.txt", line) for line, text in enumerate(texts, 1)]


@pytest.fixture(scope="module")
def causal_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "lm"
    card = Card(task="lm", shape=small(vocabulary=tokenizer().size))
    save(folder / "best", model_of("lm", vocabulary=tokenizer().size), card, tokenizer())
    return folder


@pytest.fixture(scope="module")
def classifier_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "clf"
    shape = small(vocabulary=tokenizer().size, segments=2)
    card = Card(task="classify", shape=shape, causal=False, pooling="first", labels=("no", "yes"), keep="both")
    model = card.build()
    initialise(model)
    save(folder / "best", model, card, tokenizer())
    return folder


def vectors_of(run: Path, texts: list[str], folder: Path, **options: Any) -> tuple[np.ndarray, Embedded]:
    made = embed(run, rows_of(texts), folder / "vectors.npy", force=True, **options)
    return np.load(folder / "vectors.npy", mmap_mode="r"), made


def hidden(run: Path, ids: list[int]) -> np.ndarray:
    with torch.inference_mode():
        return load(run).model.get_submodule("body")(torch.tensor([ids]))[0].numpy()


@pytest.mark.parametrize("pooling", ["mean", "last"])
def test_a_vector_for_each_text_of_a_causal_run(causal_run: Path, tmp_path: Path, pooling: Reading) -> None:
    found, made = vectors_of(causal_run, TEXTS, tmp_path, pooling=pooling)
    assert (made.texts, made.vectors, made.long, made.pooling) == (5, 5, 1, pooling)
    for text, vector in zip(TEXTS, found):
        states = hidden(causal_run, [tokenizer().sos, *tokenizer().encode(text)][:CONTEXT])
        expected = states.mean(axis=0) if pooling == "mean" else states[-1]
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_a_masked_run_is_read_at_cls(tmp_path: Path) -> None:
    found, made = vectors_of(masked_run(), TEXTS[:2], tmp_path, pooling="cls")
    assert made.pooling == "first"
    for text, vector in zip(TEXTS, found):
        states = hidden(masked_run(), [tokenizer().cls, *tokenizer().encode(text), tokenizer().sep])
        np.testing.assert_allclose(vector, states[0], atol=1e-5)


def test_a_classifier_gives_what_its_head_reads(classifier_run: Path, tmp_path: Path) -> None:
    rows = [Row("the fish", "f", 1, text_b="a boat"), Row("old bank " * 30, "f", 2), Row("coin", "f", 3, text_b="")]
    embed(classifier_run, rows, tmp_path / "v.npy")
    model = load(classifier_run).model
    assert isinstance(model, Classifier)
    logits = model.head(torch.from_numpy(np.load(tmp_path / "v.npy"))).detach().numpy()
    texts = predict.lay_out(rows, tokenizer(), False, CONTEXT, "both")
    np.testing.assert_allclose(logits, predict.logits_of(model, texts), atol=1e-5)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_vector_for_each_word_with_its_span(causal_run: Path, tmp_path: Path, kind: str) -> None:
    run, cutter = (causal_run, tokenizer()) if kind == "causal" else (masked_run(), tokenizer())
    texts = [TEXTS[0], "", "the zebra's coin"]
    found, made = vectors_of(run, texts, tmp_path, of="words")
    named = [json.loads(line) for line in (tmp_path / "vectors.jsonl").read_text("utf-8").splitlines()]
    assert [(n["number"], n["word"]) for n in named] == [
        (0, "the"), (0, "fish"), (0, "and"), (0, "the"), (0, "boat"), (2, "the"), (2, "zebra"), (2, "s"), (2, "coin"),
    ]  # fmt: skip
    assert len(found) == made.vectors == len(named)
    for name, vector in zip(named, found):
        text, start, end = texts[name["number"]], name["start"], name["end"]
        assert text[start:end] == name["word"]
        ids, frame = cutter.encode(text), ([cutter.sos], []) if kind == "causal" else ([cutter.cls], [cutter.sep])
        states = hidden(run, [*frame[0], *ids, *frame[1]])
        mine = [i + 1 for i, (a, b) in enumerate(cutter.spans(text)) if set(range(a, b)) & set(range(start, end))]
        expected = states[mine[-1]] if kind == "causal" else states[mine].mean(axis=0)
        np.testing.assert_allclose(vector, expected, atol=1e-5)


@given(st.integers(0, 200), st.integers(1, 40), st.booleans())
def test_windows_own_every_token_once_and_give_it_context(length: int, room: int, causal: bool) -> None:
    cut = list(windows(length, room, causal=causal))
    owned = [place for _, own, end in cut for place in range(own, end)]
    assert owned == list(range(length))
    for begin, own, end in cut:
        assert begin <= own
        assert end <= begin + room
        before, after = own - begin, min(begin + room, length) - end
        assert begin == 0 or before >= room // 2 // 2
        assert causal or begin + room >= length or after >= room // 2 // 2


def test_no_word_of_a_long_text_is_lost(causal_run: Path, tmp_path: Path) -> None:
    text = " ".join(f"the old fish{i}" for i in range(100))
    found, made = vectors_of(causal_run, [text, "a boat"], tmp_path, of="words")
    assert (made.texts, made.long) == (2, 1)
    named = [json.loads(line) for line in (tmp_path / "vectors.jsonl").read_text("utf-8").splitlines()]
    assert [(n["start"], n["end"]) for n in named if n["number"] == 0] == list(words(text))
    assert np.isfinite(found).all()


def test_a_text_is_cut_into_parts_without_a_shift_of_its_spans(
    causal_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "the old fish swam " * 40
    whole, _ = vectors_of(masked_run(), [text], tmp_path, of="words")
    whole = np.array(whole)
    monkeypatch.setattr(word_vectors, "cut", lambda text, cutter: cut(text, cutter, 50))
    parts, _ = vectors_of(masked_run(), [text], tmp_path, of="words")
    named = [json.loads(line) for line in (tmp_path / "vectors.jsonl").read_text("utf-8").splitlines()]
    assert parts.shape == whole.shape
    assert [text[n["start"] : n["end"]] for n in named] == text.split()


def test_the_three_forms_hold_the_same(tmp_path: Path) -> None:
    for of in KINDS:
        for form in ("npy", "parquet", "jsonl"):
            embed(masked_run(), rows_of(TEXTS), tmp_path / f"{of}-{form}.{form}", of=of)
        table = np.load(tmp_path / f"{of}-npy.npy")
        columns = pyarrow.parquet.read_table(tmp_path / f"{of}-parquet.parquet")
        lines = [json.loads(line) for line in (tmp_path / f"{of}-jsonl.jsonl").read_text("utf-8").splitlines()]
        assert (np.array([line["vector"] for line in lines], np.float32) == table).all()
        assert columns.to_pylist() == [{**line, "vector": row.tolist()} for line, row in zip(lines, table)]
        assert table.dtype == np.float32
        piped = list(embed_lines(masked_run(), rows_of(TEXTS), of=of))
        assert piped == lines


def test_blocks_change_neither_order_nor_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*sentences(50, 3)[0], "a", "", "the " * 100]
    for of in KINDS:
        whole, _ = vectors_of(masked_run(), texts, tmp_path, of=of)
        whole = np.array(whole)
        monkeypatch.setattr(text_vectors, "BLOCK", 7)
        monkeypatch.setattr(word_vectors, "TOKENS", 40)
        small_blocks, made = vectors_of(masked_run(), texts, tmp_path, of=of)
        np.testing.assert_allclose(small_blocks, whole, atol=1e-4)
        assert made.texts == len(texts)
        monkeypatch.undo()


@pytest.mark.parametrize("form", ["npy", "parquet", "jsonl"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_stop_leaves_what_was_there(
    causal_run: Path, tmp_path: Path, form: str, stop: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / f"vectors.{form}"
    out.write_text("old")

    def stopped() -> Iterator[Row]:
        yield from rows_of(["the fish"] * 20)
        raise stop

    monkeypatch.setattr(word_vectors, "TOKENS", 40)
    with pytest.raises((KeyboardInterrupt, RunError)):
        embed(causal_run, stopped(), out, of="words", force=True)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    assert out.read_text() == "old"


def test_a_file_that_is_there_is_not_written_over(causal_run: Path, tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text("mine")
    with pytest.raises(RunError, match=r"v\.jsonl: is already there.*--force"):
        embed(causal_run, rows_of(["a"]), tmp_path / "v.npy", of="words")
    embed(causal_run, rows_of(["a"]), tmp_path / "v.npy")
    assert (tmp_path / "v.jsonl").read_text() == "mine"


def test_mistakes_say_what_to_type(causal_run: Path, tmp_path: Path) -> None:
    cases: list[tuple[type[HeadstartError], str, str, dict[str, Any]]] = [
        (ConfigError, "v.csv", r"--out v\.npy", {}),
        (ConfigError, "none/v.npy", "mkdir -p", {}),
        (ConfigError, "v.npy", "choose mean or last", {"pooling": "cls"}),
        (ConfigError, "v.npy", "for --of words choose", {"pooling": "cls", "of": "words"}),
    ]
    for kind, name, said, options in cases:
        with pytest.raises(kind, match=said):
            embed(causal_run, rows_of(["a"]), tmp_path / name, **options)
    shape = small(vocabulary=tokenizer().size)
    save(tmp_path / "mt" / "best", build("translate", shape), Card(task="translate", shape=shape), tokenizer())
    with pytest.raises(CheckpointError, match="headstart pretrain"):
        embed(tmp_path / "mt", rows_of(["a"]), tmp_path / "v.npy")
    assert not list(tmp_path.glob("*v.*"))

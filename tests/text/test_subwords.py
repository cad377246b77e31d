"""Training is repeatable, bounded in memory, and says what it could not do."""

import subprocess
import sys

import pytest
from text.small_texts import small_texts

from headstart.errors import TokenizerError
from headstart.text.pieces.sample import CHUNK, chunks, draw_sample
from headstart.text.subwords import FIXED, train_tokenizer


def test_same_texts_same_tokenizer() -> None:
    first = train_tokenizer(small_texts(), 400, sample=5000)
    assert train_tokenizer(iter(small_texts()), 400, sample=5000).hash == first.hash
    assert train_tokenizer(small_texts(), 400, sample=5000, seed=1).hash != first.hash


def test_another_process_gives_the_same_tokenizer() -> None:
    code = (
        "from small_texts import small_texts; from headstart.text.subwords import train_tokenizer; "
        "print(train_tokenizer(small_texts(), 400).hash)"
    )
    path = [entry for entry in sys.path if entry.endswith("text")]
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": path[0]}
        found = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == train_tokenizer(small_texts(), 400).hash
        assert found.stderr == ""


def test_too_large_a_vocabulary_is_cut_with_a_note() -> None:
    tokenizer = train_tokenizer(["kari mi"], 16_000)
    assert FIXED < tokenizer.size < 300
    assert "16,000 asked for" in tokenizer.training["note"]
    assert tokenizer.decode(tokenizer.encode("kari mi tu")) == "kari mi tu"
    assert train_tokenizer(small_texts(), 300).training["note"] == ""


def test_too_small_a_vocabulary_is_refused() -> None:
    with pytest.raises(TokenizerError, match="263 ids go to"):
        train_tokenizer(small_texts(), 263)
    smallest = train_tokenizer(small_texts(), 264)
    assert smallest.size == 264
    assert smallest.decode(smallest.encode(" kari\t▁")) == " kari\t▁"


@pytest.mark.parametrize("texts", [[], [""], [" \n", "\t"]])
def test_no_text_is_refused(texts: list[str]) -> None:
    with pytest.raises(TokenizerError, match="no text"):
        train_tokenizer(texts, 400)


@pytest.mark.parametrize("text", ["\u2585", "▁", "\0", "\ue000", "\ud800", "a\u2585b\0c▁d\ud800e", "\t\t\ta"])
def test_signs_that_sentencepiece_keeps_for_itself(text: str) -> None:
    tokenizer = train_tokenizer([text, *small_texts(count=20), text], 300)
    assert tokenizer.decode(tokenizer.encode(text)) == text.replace("\ud800", "\ufffd")


def test_a_writing_with_more_characters_than_pieces() -> None:
    text = "".join(chr(0x4E00 + number % 3000) + "我" for number in range(6000))
    tokenizer = train_tokenizer([text], 400)
    assert tokenizer.size <= 400
    assert len(tokenizer.encode("我")) <= 2
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_long_document_is_not_dropped() -> None:
    longest = " ".join(small_texts(count=1)) + " " + "karimitu " * 40_000
    tokenizer = train_tokenizer([longest], 400)
    assert [tokenizer.piece(id) for id in tokenizer.encode("karimitu")] == ["▁karimitu"]


def test_chunks_lose_nothing_but_the_space_at_a_cut() -> None:
    for text in ("".join(small_texts()), "x" * 10_000, " " * 10_000, "", "a " * 3000 + "b" * 5000):
        parts = list(chunks(text))
        assert all(0 < len(part) <= CHUNK for part in parts)
        assert "".join(parts).replace(" ", "") == text.replace(" ", "")
        assert sum(map(len, parts)) >= len(text) - len(parts)


def test_a_sample_is_bounded_and_even() -> None:
    sample = draw_sample((f"{number:05} " + "x" * 94 for number in range(20_000)), 100_000)
    assert (sample.texts, sample.characters) == (20_000, 2_000_000)
    assert 99_000 <= sample.kept <= 100_000
    numbers = [int(chunk[:5]) for chunk in sample.chunks]
    assert len(set(numbers)) == len(numbers) == 1000
    assert abs(sum(numbers) / 1000 - 10_000) < 4 * 20_000 / 12**0.5 / 1000**0.5
    assert draw_sample(["a" * 50], 10).kept == 50


def test_a_sample_of_everything_keeps_everything() -> None:
    sample = draw_sample(small_texts(), 10**9)
    assert sorted(sample.chunks) == sorted(small_texts())

"""The token store: exact, all or nothing, reused, and the same bytes after any number of kills."""

import errno
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.small_texts import small_texts

from headstart.errors import ConfigError, DataError
from headstart.text import stream
from headstart.text.readers import Corpus
from headstart.text.records import Document, Reading
from headstart.text.store import Origin, Store, Tokens, file_names, open_store
from headstart.text.storing import partial
from headstart.text.storing.chunks import id_type
from headstart.text.storing.holdout import choice, marked, rank
from headstart.text.storing.long_texts import cut
from headstart.text.stream import build_store
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

TEXTS = [" ".join(text.split()) for text in small_texts(count=400)]
OURS = train_tokenizer(TEXTS, 400)
OTHER = train_tokenizer(TEXTS, 350)
LINES = Reading(documents="lines")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return written(tmp_path / "corpus.txt", TEXTS)


def written(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def built(path: Path, folder: Path, tokenizer: Tokenizer = OURS, holdout: float = 0.05) -> tuple[Store, str]:
    said: list[str] = []
    store = build_store(Corpus([path], LINES), tokenizer, folder, holdout=holdout, workers=2, say=said.append)
    return store, " ".join(said)


def texts_of(part: Tokens, tokenizer: Tokenizer = OURS) -> list[str]:
    documents = [part.document(number) for number in range(part.documents)]
    assert all((ids[0], ids[-1]) == (tokenizer.sos, tokenizer.eos) for ids in documents)
    return [tokenizer.decode(ids.tolist()) for ids in documents]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_store_holds_every_document_once_and_the_card_counts(corpus: Path, tmp_path: Path) -> None:
    store, _ = built(corpus, tmp_path / "tokens")
    train, valid = texts_of(store.train), texts_of(store.valid)
    assert sorted(train + valid) == sorted(TEXTS)
    assert train == [text for text in TEXTS if rank(Document(text, "", 0)) >= 0.05]
    assert 5 <= len(valid) <= 40
    assert store.card.train.documents == len(train)
    assert store.card.train.count == len(store.train) == sum(len(OURS.encode(text)) + 2 for text in train)
    assert store.card.valid.bytes == store.valid.bytes == sum(len(text.encode()) for text in valid)
    assert isinstance(store.train.ids, np.memmap)
    assert store.train.ids.dtype == np.uint16
    assert sorted(contents(tmp_path / "tokens")) == sorted(["card.json", *file_names()])
    open_store(tmp_path / "tokens", verify=True)


def test_ids_are_as_narrow_as_the_vocabulary_allows() -> None:
    assert id_type(65_536) == np.uint16
    assert id_type(65_537) == np.uint32


def test_progress_adds_up_to_the_size_of_the_corpus(corpus: Path, tmp_path: Path) -> None:
    steps: list[int] = []
    files = Corpus([corpus])
    build_store(files, OURS, tmp_path / "tokens", advance=steps.append)
    assert sum(steps) == files.bytes


def test_an_unchanged_store_is_reused(corpus: Path, tmp_path: Path) -> None:
    built(corpus, tmp_path / "tokens")
    before = (tmp_path / "tokens" / "train.bin").stat().st_mtime_ns
    _, said = built(corpus, tmp_path / "tokens")
    assert "reused" in said
    assert (tmp_path / "tokens" / "train.bin").stat().st_mtime_ns == before


def test_a_changed_store_is_built_again_with_the_reason(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    built(corpus, folder)
    assert "the tokenizer has changed" in built(corpus, folder, OTHER)[1]
    assert "another share is held out" in built(corpus, folder, OTHER, holdout=0.2)[1]
    written(corpus, TEXTS[:-1])
    store, said = built(corpus, folder, OTHER, holdout=0.2)
    assert "the corpus has changed" in said
    assert store.card.train.documents + store.card.valid.documents == len(TEXTS) - 1
    (folder / "train.bin").write_bytes(b"")
    store, said = built(corpus, folder, OTHER, holdout=0.2)
    assert "train.bin" in said
    assert len(store.train) > 0


@pytest.mark.parametrize("name", file_names())
def test_a_file_that_is_truncated_altered_or_gone_is_named(corpus: Path, tmp_path: Path, name: str) -> None:
    built(corpus, tmp_path / "tokens")
    path = tmp_path / "tokens" / name
    content = path.read_bytes()
    for wrong in (content[:-1], content + b"\0\0" if name.endswith("bin") else content[:100], b""):
        path.write_bytes(wrong)
        with pytest.raises(DataError, match=name):
            open_store(tmp_path / "tokens")
    path.write_bytes(content[:-2] + bytes([content[-2] ^ 1, content[-1]]))
    with pytest.raises(DataError, match=name):
        open_store(tmp_path / "tokens", verify=True)
    path.unlink()
    with pytest.raises(DataError, match=name):
        open_store(tmp_path / "tokens")


@pytest.mark.parametrize("wrong", ["", "{", "[]", "{}", '{"train": 3}'])
def test_a_damaged_card_is_named(corpus: Path, tmp_path: Path, wrong: str) -> None:
    built(corpus, tmp_path / "tokens")
    (tmp_path / "tokens" / "card.json").write_text(wrong)
    with pytest.raises(DataError, match=r"card\.json"):
        open_store(tmp_path / "tokens")


def test_a_card_with_another_type_or_a_negative_count_is_refused(corpus: Path, tmp_path: Path) -> None:
    built(corpus, tmp_path / "tokens")
    path = tmp_path / "tokens" / "card.json"
    card = json.loads(path.read_text())
    wrong: list[dict[str, object]] = [{"dtype": "object"}, {"valid": {"count": -1}}, {"files": 3}, {"train": []}]
    for changed in wrong:
        path.write_text(json.dumps(card | changed))
        with pytest.raises(DataError, match=r"card\.json"):
            open_store(tmp_path / "tokens")


def test_what_is_held_out_does_not_depend_on_order_or_company(tmp_path: Path) -> None:
    shuffled = random.Random(1).sample(TEXTS, len(TEXTS))
    more = [f"{text} {number}" for number, text in enumerate(TEXTS)]
    stores = [
        built(written(tmp_path / f"{number}.txt", texts), tmp_path / f"tokens{number}")[0]
        for number, texts in enumerate((TEXTS, shuffled, [*more, *TEXTS]))
    ]
    one, two, three = (set(texts_of(store.valid)) for store in stores)
    assert one == two == three & set(TEXTS)


@given(st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=9), st.floats(0.001, 0.999))
def test_of_different_documents_some_are_held_out_and_some_are_not(texts: list[str], share: float) -> None:
    documents = [Document(text, "", 0) for text in texts]
    held = [is_held for _, is_held in marked(documents, share, choice(documents, share, lambda sentence: None))]
    assert len(held) == len(documents)
    assert len(set(texts)) == 1 or set(held) == {True, False}


def test_of_two_documents_the_shorter_is_held_out(tmp_path: Path) -> None:
    path = written(tmp_path / "two.txt", ["short one", " ".join(TEXTS)])
    assert texts_of(built(path, tmp_path / "tokens", holdout=0.001)[0].valid) == ["short one"]


def test_an_only_document_gives_its_end(tmp_path: Path) -> None:
    path = written(tmp_path / "one.txt", [" ".join(TEXTS)])
    store, said = built(path, tmp_path / "tokens", holdout=0.1)
    assert "one document" in said
    assert f"{texts_of(store.train)[0]} {texts_of(store.valid)[0]}" == " ".join(TEXTS)
    assert len(store.valid) / (len(store.train) + len(store.valid)) == pytest.approx(0.1, abs=0.02)
    store, _ = built(written(tmp_path / "word.txt", ["word"]), tmp_path / "word")
    assert (store.train.documents, store.valid.documents) == (1, 0)


def test_nothing_is_held_out_if_nothing_is_wanted(corpus: Path, tmp_path: Path) -> None:
    store, _ = built(corpus, tmp_path / "tokens", holdout=0.0)
    assert (store.train.documents, store.valid.documents) == (len(TEXTS), 0)
    with pytest.raises(ConfigError, match="holdout"):
        built(corpus, tmp_path / "tokens", holdout=1.0)


def test_another_folder_is_not_overwritten(corpus: Path, tmp_path: Path) -> None:
    for name in ("mine", "tokens.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.txt").write_text("years of work")
        with pytest.raises(DataError, match="something else"):
            built(corpus, tmp_path / name.removesuffix(".part"))
        assert (tmp_path / name / "thesis.txt").exists()


def test_a_full_disk_leaves_the_old_store_and_says_how_much_is_needed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(corpus, tmp_path / "tokens")
    before = contents(tmp_path / "tokens")

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for place in ("add", "finish"):
        with monkeypatch.context() as patch:
            patch.setattr(partial.Part, place, full)
            with pytest.raises(DataError, match=r"disk is full: the tokens need about .* MB, and .* MB are free"):
                built(corpus, tmp_path / "tokens", OTHER)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "tokens"]
        assert contents(tmp_path / "tokens") == before


def test_a_corpus_that_breaks_off_leaves_nothing(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_bytes(b"good\n" * 9 + b"bad \xff\n")
    with pytest.raises(DataError, match=r"broken\.txt"):
        build_store(Corpus([corpus, tmp_path / "broken.txt"], LINES), OURS, tmp_path / "tokens")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.txt", "corpus.txt"]


BUILD = """
import sys, time
from pathlib import Path
from headstart.text.storing import chunks, partial
from headstart.text.readers import Corpus
from headstart.text.records import Reading
from headstart.text.stream import build_store
from headstart.text.tokenizer import Tokenizer
corpus, tokenizer, folder = map(Path, sys.argv[1:])
chunks.CHARACTERS, partial.SAVED_EVERY = 300, 3
save = partial.Partial.save
def slow_save(self):
    save(self)
    print(self.taken, flush=True)
    time.sleep(0.004)
partial.Partial.save = slow_save
build_store(Corpus([corpus], Reading(documents="lines")), Tokenizer.load(tokenizer), folder, holdout=0.05, workers=2)
print("done", flush=True)
"""


def test_killed_at_random_moments_it_ends_with_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    built(corpus, tmp_path / "whole")
    OURS.save(tmp_path / "tokenizer")
    arguments = [sys.executable, "-c", BUILD, str(corpus), str(tmp_path / "tokenizer"), str(tmp_path / "tokens")]
    chance, taken = random.Random(0), []
    for _ in range(4):
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        taken.append(int(child.stdout.readline()))
        time.sleep(chance.uniform(0.0, 0.06))
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert not (tmp_path / "tokens").exists()
    assert taken == sorted(taken)
    assert taken[-1] > taken[0] + 10, "a killed run is continued, not begun again"
    last = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert last.stdout.endswith("done\n")
    assert contents(tmp_path / "tokens") == contents(tmp_path / "whole")
    assert not (tmp_path / "tokens.part").exists()


def test_stopped_while_the_folder_is_swapped_it_ends_with_the_same_bytes(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(corpus, tmp_path / "whole")

    @contextmanager
    def stopped(folder: Path, marker: str) -> Iterator[Path]:
        fresh = folder.with_name(f"{folder.name}.new")
        fresh.mkdir()
        yield fresh
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stream, "whole_folder", stopped)
        with pytest.raises(KeyboardInterrupt):
            built(corpus, tmp_path / "tokens")
    assert not (tmp_path / "tokens").exists()
    built(corpus, tmp_path / "tokens")
    assert contents(tmp_path / "tokens") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "tokens", "whole"]


def test_a_lost_or_foreign_beginning_is_not_continued(corpus: Path, tmp_path: Path) -> None:
    built(corpus, tmp_path / "whole")
    origin = Origin(**{name: getattr(open_store(tmp_path / "whole").card, name) for name in ORIGIN})
    for changed in ({}, {"tokenizer": "another"}):
        with partial.Partial(tmp_path / "tokens.part", Origin(**{**vars(origin), **changed}), OURS.oov) as part:
            part.taken = 100
            part.save()
        if not changed:
            (tmp_path / "tokens.part" / "train.bin").unlink()
        built(corpus, tmp_path / "tokens")
        assert contents(tmp_path / "tokens") == contents(tmp_path / "whole")
        (tmp_path / "tokens" / "card.json").write_text("{}")


ORIGIN = ("tokenizer", "corpus", "holdout", "dtype", "format")


@given(
    st.lists(st.sampled_from(["w", "é", "word", "a  b", "x\n y", "▁", "中文", "sk>", "ka"]), min_size=1, max_size=90)
)
def test_a_long_text_is_cut_without_changing_its_ids(words: list[str]) -> None:
    text = " ".join(words)
    pieces = list(cut(text, OURS, longest=40))
    assert max(map(len, pieces)) <= 40
    assert [id for piece in pieces for id in OURS.encode(piece)] == OURS.encode(text)


def test_a_long_text_without_spaces_is_cut_all_the_same() -> None:
    pieces = list(cut("é" * 1_000, OURS, longest=64))
    assert "".join(pieces) == "é" * 1_000
    assert max(map(len, pieces)) == 64


def test_cut_pieces_of_the_lab_are_looked_up(shared_data: Path, tmp_path: Path) -> None:
    lab = Tokenizer.load(shared_data / "lab")
    store = build_store(Corpus([shared_data / "lab" / "cls-books" / "train.review.spm"]), lab, tmp_path / "tokens")
    assert store.train.ids.dtype == np.uint16
    assert store.card.train.unknown + store.card.valid.unknown == 126
    assert store.card.train.documents + store.card.valid.documents == 1_600

"""Corpora: which files are read, how they are cut into documents, what identifies them."""

import gzip
import io
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import sentencepiece
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from headstart.errors import DataError
from headstart.text.readers import Corpus, read_rows
from headstart.text.records import Document, Reading


def texts(*paths: str | Path, **settings: str) -> list[str]:
    return [document.text for document in Corpus(paths, Reading(**settings)).documents()]  # type: ignore[arg-type]


def refusal(*paths: str | Path, **settings: str) -> str:
    with pytest.raises(DataError) as caught:
        texts(*paths, **settings)
    return str(caught.value)


def saved(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_every_form_and_packing_gives_the_same_documents(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    texts_in = ["le chat", 'il dit « "oui", non »', "trois\tmots"]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts_in}), tmp_path / "a.parquet")
    quoted = ['"%s"' % text.replace('"', '""') for text in texts_in]  # noqa: UP031
    plain = {
        "a.txt": "\n".join(texts_in),
        "a.csv": "text\r\n" + "\r\n".join(quoted),
        "a.tsv": "text\n" + "\n".join([texts_in[0], *quoted[1:]]),
        "a.jsonl": '{"text": "le chat"}\n{"text": "il dit « \\"oui\\", non »"}\n\n{"text": "trois\\tmots"}\n',
        "a.spm": '▁le ▁chat\n▁il ▁d it ▁« ▁"oui", ▁non ▁»\n▁trois\t mots\n',
    }
    contents = {name: text.encode() for name, text in plain.items()}
    contents["a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    packers: dict[str, Callable[[bytes], bytes]] = {
        "": bytes,
        ".gz": gzip.compress,
        ".xz": lzma.compress,
        ".ZST": zstandard.compress,
    }
    for name, content in contents.items():
        for ending, pack in packers.items():
            (tmp_path / (name + ending)).write_bytes(pack(content))
            seen: list[int] = []
            corpus = Corpus([tmp_path / (name + ending)])
            assert [document.text for document in corpus.documents(seen.append)] == texts_in, name + ending
            assert sum(seen) == corpus.bytes == (tmp_path / (name + ending)).stat().st_size


@pytest.mark.parametrize(
    ("text", "lines", "guess"),
    [
        ("a\nb\nc\n", ["a", "b", "c"], "a document a line (guessed; --documents blocks to change)"),
        ("\n\na\nb\n\n \n", ["a", "b"], "a document a line (guessed; --documents blocks to change)"),
        ("a\nb\n\nc\n", ["a\nb", "c"], "blocks between blank lines (guessed; --documents lines to change)"),
        ("a\r\n\r\nb\r\n", ["a", "b"], "blocks between blank lines (guessed; --documents lines to change)"),
        (
            "\n a \n b\n \t\n\n\nc",
            [" a \n b", "c"],
            "blocks between blank lines (guessed; --documents lines to change)",
        ),
    ],
)
def test_lines_or_blocks_is_guessed(tmp_path: Path, text: str, lines: list[str], guess: str) -> None:
    path = saved(tmp_path / "a.txt", text)
    assert texts(path) == lines
    assert Corpus([path]).guess == guess
    assert texts(path, documents="lines") == [line for line in text.replace("\r", "").split("\n") if line.strip()]
    assert Corpus([path], Reading(documents="lines")).guess == "a document a line"


def test_the_guess_is_made_for_each_file(tmp_path: Path) -> None:
    first, second = saved(tmp_path / "a.txt", "a\nb\n\nc\n"), saved(tmp_path / "b.txt", "d\ne\n")
    assert texts(first, second) == ["a\nb", "c", "d", "e"]
    assert Corpus([first, second]).guess.startswith(
        "blocks between blank lines in 1 file, a document a line in 1 file (guessed;"
    )
    assert Corpus([saved(tmp_path / "c.jsonl", "{}")]).guess == ""


def test_documents_know_their_lines(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.txt", "\na\nb\n\n\nc\n")
    assert list(Corpus([path]).documents()) == [Document("a\nb", str(path), 2), Document("c", str(path), 6)]
    assert [found.line for found in Corpus([path], Reading(documents="lines")).documents()] == [2, 3, 6]
    table = saved(tmp_path / "a.csv", 'text\n"one\ntwo"\n\n" "\nthree\n')
    assert [(found.line, found.text) for found in Corpus([table]).documents()] == [(2, "one\ntwo"), (6, "three")]


@given(st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), min_size=1)))
def test_documents_of_lines_come_back_as_written(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "documents.txt"
    lines = ["first", *(line.rstrip("\r") for line in lines)]
    path.write_bytes("\n".join(lines).encode())
    assert texts(path, documents="lines") == [line for line in lines if line.strip()]


def test_a_folder_is_read_sorted_and_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt.gz", "a/y.txt", "a-b.txt", "B.TXT", ".hidden.txt", ".git/x.txt", "notes.md", "n"):
        saved(tmp_path / "corpus" / name, f"{name}\n")
    (tmp_path / "corpus/a/z.txt.gz").write_bytes(gzip.compress(b"a/z.txt.gz"))
    (tmp_path / "corpus/empty.txt").touch()
    expected = ["B.TXT", "a/y.txt", "a/z.txt.gz", "a-b.txt", "b.txt"]
    assert texts(tmp_path / "corpus") == expected
    assert len(Corpus([tmp_path / "corpus"]).files) == 6
    assert texts(tmp_path / "corpus/b.txt", tmp_path / "corpus") == ["b.txt", *expected]


def test_a_folder_with_nothing_to_read(tmp_path: Path) -> None:
    assert "it holds no file at all" in refusal(tmp_path)
    saved(tmp_path / "a.pdf", "")
    saved(tmp_path / "b.tar.gz", "")
    assert "only files with these endings: .pdf, .tar.gz. Known: .txt, .spm, .csv" in refusal(tmp_path)
    saved(tmp_path / "c.txt", "\n")
    assert f"{tmp_path}: no text in 1 file of this folder" in refusal(tmp_path)


def test_files_named_after_their_language_are_text(tmp_path: Path) -> None:
    saved(tmp_path / "train.en", "one\ntwo\n")
    with gzip.open(tmp_path / "train.de.gz", "wt", encoding="utf-8") as file:
        file.write("eins\n")
    assert texts(tmp_path / "train.en", tmp_path / "train.de.gz") == ["one", "two", "eins"]
    assert [row.text for row in read_rows(tmp_path / "train.en", labelled=False)] == ["one", "two"]


def test_what_cannot_be_a_corpus(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.txt") == f"{tmp_path}/no.txt: no such file or folder"
    assert "no such file or folder" in refusal("many words " * 100)
    assert "empty, there is no text to read" in refusal(saved(tmp_path / "a.txt", ""))
    assert "empty or holds only blank lines" in refusal(saved(tmp_path / "a.txt", "\n \n"))
    assert "empty or holds only blank lines" in refusal(saved(tmp_path / "a.csv", "text\n"))
    assert "the ending '.json' is unknown. Did you mean '.jsonl'?" in refusal(saved(tmp_path / "a.json", "{}"))
    assert "a file without an ending" in refusal(saved(tmp_path / "corpus", "a"))
    assert "needs at least one file" in refusal()
    assert refusal("") == "'': no such file or folder"
    os.mkfifo(tmp_path / "pipe.txt")
    assert "can't be read twice; give - and pipe it in" in refusal(tmp_path / "pipe.txt")


def test_one_bad_file_among_good_ones_is_named(tmp_path: Path) -> None:
    good = saved(tmp_path / "a.txt", "good\n")
    assert f"{tmp_path}/b.txt: empty" in refusal(good, saved(tmp_path / "b.txt", ""))
    (tmp_path / "b.txt").write_bytes(b"a\n\xe9\n")
    assert f"{tmp_path}/b.txt:2: not utf-8" in refusal(good, tmp_path / "b.txt")


def test_a_block_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headstart.text.reading.documents.LONGEST", 100)
    path = saved(tmp_path / "a.txt", "a\n\n" + "line\n" * 100)
    said = refusal(path)
    assert said.startswith(f"{path}:3: no blank line in the 100 characters from here")
    assert "--documents lines" in said


def test_stdin_is_kept_and_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, "été\nhiver\n".encode())
    corpus = Corpus(["-"])
    for _ in range(2):
        assert [(found.text, found.source) for found in corpus.documents()] == [("été", "stdin"), ("hiver", "stdin")]
    assert corpus.bytes == 12
    piped(monkeypatch, b"")
    assert refusal("-") == "stdin: empty, there is no text to read"
    piped(monkeypatch, b"a\nun \xe9t\xe9 \x96 chaud\n")
    assert "stdin:2: not utf-8" in (said := refusal("-"))
    assert "... | iconv -f windows-1252 -t utf-8 | headstart ..." in said


def test_stdin_leaves_nothing_behind(tmp_path: Path) -> None:
    script = "from headstart.text.readers import Corpus; c = Corpus(['-']); print(c.files[0], len(list(c.documents())))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=b"a\nb\n",
        capture_output=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
    )
    name, count = done.stdout.decode().split()
    assert Path(name).parent == tmp_path
    assert count == "2"
    assert not list(tmp_path.iterdir())


def test_stdin_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(28, "No space left on device")

    before = set(Path(tempfile.gettempdir()).glob("headstart-stdin-*"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Full()))
    assert "No space left on device; set TMPDIR" in refusal("-")
    assert set(Path(tempfile.gettempdir()).glob("headstart-stdin-*")) == before


def test_the_fingerprint_is_that_of_the_contents(tmp_path: Path) -> None:
    for place in ("one", "two/deeper"):
        saved(tmp_path / place / "a.txt", "a\nb\n\nc\n")
        saved(tmp_path / place / "b/c.csv", "text,title\nd,e\n")
    os.utime(tmp_path / "one/a.txt", (0, 0))
    one = Corpus([tmp_path / "one"])
    assert one.fingerprint() == Corpus([tmp_path / "two/deeper"]).fingerprint()
    assert one.fingerprint() == Corpus([tmp_path / "one/a.txt", tmp_path / "one/b/c.csv"]).fingerprint()
    blocks = Corpus([tmp_path / "one"], Reading(documents="blocks", largest_ratio=7, label_column="x"))
    assert one.fingerprint() == blocks.fingerprint()
    others = [
        Corpus([tmp_path / "one/b/c.csv", tmp_path / "one/a.txt"]),
        Corpus([tmp_path / "one/a.txt"]),
        Corpus([tmp_path / "one"], Reading(documents="lines")),
        Corpus([tmp_path / "one"], Reading(text_column="title")),
        Corpus([tmp_path / "one"], Reading(encoding="iso-8859-1")),
        Corpus([saved(tmp_path / "three/a.txt", "a\nb\n\nC\n"), tmp_path / "one/b/c.csv"]),
        Corpus([saved(tmp_path / "three/a.spm", "a\nb\n\nc\n"), tmp_path / "one/b/c.csv"]),
    ]
    assert len({corpus.fingerprint() for corpus in [one, *others]}) == 8
    assert len(one.fingerprint()) == 64
    with pytest.raises(DataError, match="no such text encoding"):
        Corpus([tmp_path / "one"], Reading(encoding="utf-9", documents="lines")).fingerprint()


def test_novels_are_blocks_and_news_are_lines(shared_data: Path) -> None:
    novels = Corpus([shared_data / "french/novels_eltec.txt.xz"])
    assert novels.guess == "blocks between blank lines (guessed; --documents lines to change)"
    assert sum(1 for _ in novels.documents()) == 100
    for name in ("french/news_orangesum.txt.xz", "french/reviews_unlabelled.txt.xz", "imdb/unlabelled.txt.xz"):
        assert Corpus([shared_data / name]).guess.startswith("a document a line")
    assert sum(1 for _ in Corpus([shared_data / "french/reviews_unlabelled.txt.xz"]).documents()) == 38_409


def test_pieces_join_as_sentencepiece_joins_them(shared_data: Path) -> None:
    model = sentencepiece.SentencePieceProcessor(model_file=str(shared_data / "lab/sentencepiece.french.model"))
    documents = list(Corpus([shared_data / "lab/cls-books/test.review.spm"]).documents())
    assert len(documents) == 2000
    for document in documents:
        assert document.text == model.decode_pieces(document.pieces.split(" "))

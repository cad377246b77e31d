"""Translation pairs."""

import gzip
from pathlib import Path

import pytest

from headstart.errors import DataError
from headstart.text.readers import read_pairs
from headstart.text.records import Pair, Reading


def saved(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def pairs(spec: str | Path) -> list[tuple[int, str, str]]:
    return [(pair.line, pair.source_text, pair.target_text) for pair in read_pairs(spec)]


def refusal(spec: str | Path) -> str:
    with pytest.raises(DataError) as caught:
        pairs(spec)
    return str(caught.value)


def test_two_files(tmp_path: Path) -> None:
    english, french = saved(tmp_path / "train.en", "a cat\n\na dog\n"), tmp_path / "train.fr.gz"
    french.write_bytes(gzip.compress(b"un chat\n\nun chien"))
    found = list(read_pairs(f"{english}:{french}"))
    assert found[0] == Pair("a cat", "un chat", str(english), 1)
    assert found[1:] == [Pair("", "", str(english), 2), Pair("a dog", "un chien", str(english), 3)]


def test_tables(tmp_path: Path) -> None:
    expected = [(2, "a cat", "un chat"), (3, "it's", 'c\'est "ça"')]
    assert (
        pairs(saved(tmp_path / "a.tsv", "id\ttarget\tsource\n1\tun chat\ta cat\n2\tc'est \"ça\"\tit's\n")) == expected
    )
    assert pairs(saved(tmp_path / "a.csv", 'source,target\na cat,un chat\nit\'s,"c\'est ""ça"""\n')) == expected
    lines = '\n{"source": "a cat", "target": "un chat"}\n{"target": "c\'est \\"ça\\"", "source": "it\'s"}\n'
    assert pairs(saved(tmp_path / "a.jsonl", lines)) == expected


def test_columns_of_other_names(tmp_path: Path) -> None:
    named = Reading(source_column="en", target_column="fr")
    for name, text in (("a.tsv", "fr\ten\nun chat\ta cat\n"), ("a.jsonl", '{"en": "a cat", "fr": "un chat"}\n')):
        found = list(read_pairs(saved(tmp_path / name, text), named))
        assert [(pair.source_text, pair.target_text) for pair in found] == [("a cat", "un chat")]
    assert "Type --target-column NAME" in refusal(saved(tmp_path / "a.csv", "source,fr\na,b\n"))
    with pytest.raises(DataError, match=r"no column 'fr'\. The columns are 'id', 'de', 'en'"):
        list(read_pairs(saved(tmp_path / "b.tsv", "id\tde\ten\n1\teine Katze\ta cat\n"), named))


def test_a_tsv_without_header(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.tsv", 'Go.\tVa !\tCC-BY\nHi.\tSalut.\n\n"Hi", he said.\t« Salut », dit-il.\tCC-BY\n')
    assert pairs(path) == [(1, "Go.", "Va !"), (2, "Hi.", "Salut."), (4, '"Hi", he said.', "« Salut », dit-il.")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.tsv", "", "a.tsv: no pairs in it"),
        ("a.tsv", "source\ttarget\n", "a.tsv: no pairs in it"),
        ("a.tsv", "a\tb\nc\n", "a.tsv:2: one field, but a source and a target with a tab between are needed"),
        ("a.tsv", "source\tcible\na\tb\n", "a.tsv: no column 'target'. The columns are 'source', 'cible'"),
        ("a.csv", "source,cible\na,b\n", "a.csv: no column 'target'. The columns are 'source', 'cible'"),
        ("a.jsonl", '{"source": "a"}', "a.jsonl:1: no column 'target'"),
        ("a.jsonl", '{"source": "a", "target": 3}', "a.jsonl:1: 'target' is a number"),
        ("a.txt", "a\n", "a.txt: pairs are SOURCE:TARGET"),
    ],
)
def test_bad_pairs(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in refusal(saved(tmp_path / name, text))


def test_files_of_different_length(tmp_path: Path) -> None:
    english, french = saved(tmp_path / "a.en", "a\nb\n"), saved(tmp_path / "a.fr", "a\nb\nc")
    assert f"{english} has 2 lines but {french} has 3: they must match line by line" in refusal(f"{english}:{french}")
    assert "no pairs in it" in refusal(f"{saved(english, '')}:{saved(french, '')}")


def test_multi30k(shared_data: Path) -> None:
    folder = shared_data / "multi30k"
    for part, count in (("train", 29_000), ("val", 1_014), ("test_2016_flickr", 1_000)):
        assert sum(1 for _ in read_pairs(f"{folder}/{part}.en.gz:{folder}/{part}.fr.gz")) == count

"""Labelled rows: tables, parallel files, and every way in which they can be wrong."""

import csv
import io
import json
import sys
from collections import Counter
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.errors import DataError
from headstart.text.readers import read_labelled, read_rows
from headstart.text.records import Reading, Row

pandas = pytest.importorskip("pandas")
CHARACTERS = st.characters(exclude_categories=["Cs"])
FIELDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
LABELS = st.text(st.characters(categories=["L", "N"]), min_size=1)


def saved(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def rows(spec: str | Path) -> list[tuple[int, str, str]]:
    return [(row.line, row.text, row.label) for row in read_rows(spec)]


def refusal(spec: str | Path) -> str:
    with pytest.raises(DataError) as caught:
        read_labelled(spec)
    return str(caught.value)


# --- csv and tsv


def test_csv_rows_start_where_an_editor_says(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.csv", 'label,text\n1,one\n0,"a ""b"",\n\nc\r\nd"\n\n1,last')
    assert rows(path) == [(2, "one", "1"), (3, 'a "b",\n\nc\r\nd', "0"), (8, "last", "1")]


@given(st.lists(st.tuples(FIELDS, LABELS, FIELDS), min_size=1))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_comes_back_as_python_wrote_it(
    tmp_path_factory: pytest.TempPathFactory, end: str, table: list[tuple[str, str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerows([("text", "label", "text_b"), *table])
    assert [(row.text, row.label, row.text_b) for row in read_rows(path)] == table


@settings(max_examples=30)
@given(st.lists(st.tuples(FIELDS, LABELS), min_size=1))
def test_csv_agrees_with_pandas(tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "pandas.csv"
    pandas.DataFrame(table, columns=["text", "label"]).to_csv(path, quoting=csv.QUOTE_ALL)
    read = pandas.read_csv(path, dtype=str, keep_default_na=False, lineterminator="\n")
    assert [(row.text, row.label) for row in read_rows(path)] == table
    assert [tuple(pair) for pair in read[["text", "label"]].itertuples(index=False)] == table


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_csv_may_be_separated_otherwise(tmp_path: Path, separator: str) -> None:
    text = separator.join(["label", "text"]) + "\n" + separator.join(["1", '"a, b; c"']) + "\n"
    assert rows(saved(tmp_path / "a.csv", text)) == [(2, "a, b; c", "1")]


def test_a_quote_in_a_tsv_is_a_character(tmp_path: Path) -> None:
    lines = ['1\t"Who?" is a film', '0\t"never closed', '1\tin "the" middle', '0\t"all of it"', "1\tplain\r"]
    path = saved(tmp_path / "a.tsv", "label\ttext\n" + "\n".join(lines) + "\n")
    assert rows(path) == [
        (2, '"Who?" is a film', "1"),
        (3, '"never closed', "0"),
        (4, 'in "the" middle', "1"),
        (5, '"all of it"', "0"),
        (6, "plain", "1"),
    ]


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_tsv_that_a_csv_writer_wrote_is_unquoted(tmp_path: Path, quoting: int, end: str) -> None:
    table = [("plain", "0"), ('say "hi"', "1"), ("tab\there", "0"), (f"two{end}lines", "1")] * 500
    frame = pandas.DataFrame(table, columns=["text", "label"])
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False, quoting=quoting, lineterminator=end)
    assert [(text, label) for _, text, label in rows(tmp_path / "a.tsv")] == table
    assert rows(tmp_path / "a.tsv")[4][0] == 7


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"], exclude_characters='\0\n\t\r"')), LABELS)))
def test_tsv_comes_back_as_written(tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "a.tsv"
    table = [("first", "1"), *table]
    saved(path, "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in table))
    assert [(text, label) for _, text, label in rows(path)] == table


def test_long_fields_are_read(tmp_path: Path) -> None:
    text = "mot " * 100_000
    for name in ("a.csv", "a.tsv"):
        separator = "," if name == "a.csv" else "\t"
        path = saved(tmp_path / name, f"label{separator}text\n1{separator}{text}\n")
        assert rows(path) == [(2, text, "1")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "a.csv: empty; its first line must name the columns"),
        ("a.tsv", "", "a.tsv: empty; its first line must name the columns"),
        ("a.csv", "text,label\n", "a.csv: no rows in it"),
        (
            "a.csv",
            "review,label\na,1\n",
            "a.csv: no column 'text'. The columns are 'review', 'label'. Type --text-column",
        ),
        ("a.csv", "Text,label\na,1\n", "no column 'text'. Did you mean 'Text'? The columns are 'Text', 'label'"),
        ("a.csv", "text,labels\na,1\n", "no column 'label'. Did you mean 'labels'?"),
        ("a.csv", "text,labels\na,1\n", "Type --label-column NAME"),
        ("a.csv", "text,text,label\na,b,1\n", "two columns are called 'text'"),
        (
            "a.csv",
            "text,label\na,1\nb, c,0\n",
            "a.csv:3: 3 fields, but the header has 2: 'text', 'label'; a text with a c",
        ),
        ("a.csv", "text,label\na\n", "a.csv:2: 1 field, but the header has 2"),
        (
            "a.tsv",
            "text\tlabel\na\tb\t1\n",
            "a.tsv:2: 3 fields, but the header has 2: 'text', 'label'; a text with a tab",
        ),
        ("a.csv", 'text,label\na,1\n"b,0\nc,1\n', "a.csv:3: a quote is opened here and never closed"),
        ("a.csv", 'text,label\n"a"b,1\n', "a.csv:2: text after a closing quote"),
        ("a.csv", "text,label\ra,1\rb,0\r", "a.csv:1: a lone carriage return"),
        ("a.csv", "text,label\na,1\nb, \n", "a.csv:3: the label is missing"),
        (
            "a.csv",
            "text,label\na,1\nb,1\n",
            "a.csv: all 2 rows have the label '1', but a classifier needs at least two",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in refusal(saved(tmp_path / name, text))


# --- jsonl and parquet


@given(st.lists(st.tuples(st.text(CHARACTERS), LABELS), min_size=1), st.booleans())
def test_jsonl_comes_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]], ascii_only: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.jsonl"
    lines = [json.dumps({"text": text, "label": label}, ensure_ascii=ascii_only) for text, label in table]
    saved(path, "\n".join(lines))
    assert [(text, label) for _, text, label in rows(path)] == table


def test_labels_become_strings(tmp_path: Path) -> None:
    labels = ["pos", 1, 0, -3, 2.5, True, False, " x "]
    lines = [json.dumps({"text": "t", "label": label, "text_b": None}) for label in labels]
    found = [label for _, _, label in rows(saved(tmp_path / "a.jsonl", "\n".join(lines)))]
    assert found == ["pos", "1", "0", "-3", "2.5", "true", "false", "x"]
    for values in ([1, 0], [True, False], [0.5, 2.0], ["a", "b"]):
        pyarrow.parquet.write_table(pyarrow.table({"text": ["s", "t"], "label": values}), tmp_path / "a.parquet")
        assert [label for _, _, label in rows(tmp_path / "a.parquet")] == [
            value if isinstance(value, str) else json.dumps(value) for value in values
        ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "a", "label": 1', "a.jsonl:2: invalid JSON: Expecting ',' delimiter at character 25"),
        ("[", "one object a line is needed"),
        ('[{"text": "a", "label": 1},', "one object a line is needed"),
        ('["a", 1]', "a.jsonl:2: a list, but an object is needed"),
        ('"a"', "a.jsonl:2: a text, but an object is needed"),
        ('{"text": 3, "label": 1}', "a.jsonl:2: 'text' is a number, but a text is needed"),
        ('{"text": null, "label": 1}', "a.jsonl:2: 'text' is null, but a text is needed"),
        ('{"text": "a", "label": [1]}', "a.jsonl:2: 'label' is a list, but a text is needed"),
        ('{"text": "a", "label": null}', "a.jsonl:2: the label is missing"),
        ('{"text": "a", "label": NaN}', "a.jsonl:2: the label is missing"),
        (
            '{"texte": "a", "label": 1}',
            "a.jsonl:2: no column 'text'. Did you mean 'texte'? The columns are 'texte', 'label'",
        ),
        ('{"text": "\\ud83d", "label": 1}', "a.jsonl:2: 'text' holds half a surrogate pair"),
        ("[" * 100_000, "a.jsonl:2: invalid JSON"),
        ('{"text": "a", "label": ' + "1" * 5000 + "}", "a.jsonl:2: invalid JSON"),
    ],
)
def test_bad_json_lines(tmp_path: Path, line: str, said: str) -> None:
    assert said in refusal(saved(tmp_path / "a.jsonl", f'{{"text": "a", "label": "0"}}\n{line}\n'))


@given(st.lists(st.tuples(st.text(CHARACTERS), LABELS, st.none() | st.text(CHARACTERS)), min_size=1))
def test_parquet_comes_back_as_pyarrow_wrote_it(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str, str | None]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.parquet"
    columns = dict(zip(("text", "label", "text_b"), map(list, zip(*table))))
    columns["text"] = pyarrow.array(columns["text"]).dictionary_encode()
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    found = [(row.text, row.label, row.text_b) for row in read_rows(path)]
    assert found == [(text, label, text_b or "") for text, label, text_b in table]


def test_parquet_is_read_in_batches_with_progress(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": [str(n) for n in range(5000)], "label": [1] * 5000}), path)
    steps: list[int] = []
    found = list(read_rows(path, advance=steps.append))
    assert [row.text for row in found] == [str(n) for n in range(5000)]
    assert [found[0].line, found[-1].line] == [1, 5000]
    assert len(steps) > 4
    assert sum(steps) == path.stat().st_size


def test_bad_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"

    def write(**columns: object) -> Path:
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        return path

    assert "no column 'text'. The columns are 'review', 'label'" in refusal(write(review=["a"], label=["b"]))
    assert "a.parquet:2: 'text' is null in this row" in refusal(write(text=["a", None], label=["b", "c"]))
    assert "a.parquet:1: 'text' is int in this row" in refusal(write(text=[1], label=["b"]))
    assert "a.parquet:2: the label is missing" in refusal(write(text=["a", "b"], label=["b", None]))
    assert "no rows in it" in refusal(write(text=pyarrow.array([], "string"), label=pyarrow.array([], "string")))
    whole = write(text=["a" * 100] * 100, label=["b"] * 100).read_bytes()
    for content in (whole[:-50], b"text", b"", whole[:4] + bytes(50) + whole[54:]):
        path.write_bytes(content)
        assert "a.parquet: not a readable parquet file" in refusal(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "needs pyarrow: pip install 'headstart[parquet]'" in refusal(path)


# --- parallel files


def test_parallel_files_match_line_by_line(tmp_path: Path) -> None:
    texts = saved(tmp_path / "a.txt", "one\x0cpage\n\ntwo\u2028\rlines\n")
    labels = saved(tmp_path / "a.label", "x\r\n y \r\nx\r\n")
    assert rows(f"{texts}:{labels}") == [(1, "one\x0cpage", "x"), (2, "", "y"), (3, "two\u2028\rlines", "x")]
    pieces = saved(tmp_path / "a.spm", "▁un ▁été\n▁l ' hiver\n▁a ▁▁b\n")
    found = read_labelled(f"{pieces}:{labels}")
    assert found[0] == Row("un été", str(pieces), 1, "▁un ▁été", "x")
    assert [row.text for row in found] == ["un été", "l'hiver", "a  b"]


@pytest.mark.parametrize(
    ("texts", "labels", "said"),
    [
        ("a\nb\nc\n", "0\n", "a.txt has 3 lines but {0}/a.label has 1"),
        ("a\n", "0\n1\n\n", "a.txt has 1 lines but {0}/a.label has 3"),
        ("", "", "a.label: no rows in it"),
        ("a\nb\n", "0\n\n", "a.label:2: the label is missing"),
        ("a\nb\n", "0\n0\n", "all 2 rows have the label '0'"),
    ],
)
def test_bad_parallel_files(tmp_path: Path, texts: str, labels: str, said: str) -> None:
    spec = f"{saved(tmp_path / 'a.txt', texts)}:{saved(tmp_path / 'a.label', labels)}"
    assert said.format(tmp_path) in refusal(spec)


def test_what_a_colon_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = "text,label\na,1\nb,0\n"
    for name in ("C:x.csv", "C:\\x.csv", "12:30.csv"):
        assert len(read_labelled(saved(tmp_path / name, table))) == 2
    assert refusal("D:\\data\\x.csv") == "D:\\data\\x.csv: no such file or folder"
    assert refusal("D:\\no.txt:E:\\no.label") == "D:\\no.txt: no such file or folder"
    saved(tmp_path / "at 12:30.txt", "a\nb\n")
    saved(tmp_path / "at 12:30.label", "0\n1\n")
    assert len(read_labelled("at 12:30.txt:at 12:30.label")) == 2
    saved(tmp_path / "a", "a\nb\n")
    assert len(read_labelled(f"a:{tmp_path}/at 12:30.label")) == 2
    assert refusal("a:nowhere.label") == "nowhere.label: no such file or folder"
    assert "a table can't stand on one side of ':'" in refusal("C:x.csv:at 12:30.label")
    assert "a folder, but one file is needed" in refusal(tmp_path)


# --- rows without labels


def test_a_text_file_has_no_labels(tmp_path: Path) -> None:
    said = refusal(saved(tmp_path / "a.txt", "a\n"))
    assert "a .txt file has no labels" in said
    assert f"give {tmp_path}/a.txt:LABELS" in said


def test_rows_to_predict_need_no_label_and_none_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlabelled(spec: str | Path, reading: Reading | None = None) -> list[tuple[int, str, str]]:
        found = read_rows(spec, reading or Reading(), labelled=False)
        return [(row.line, row.text, row.label) for row in found]

    lines = saved(tmp_path / "a.txt", "one\n\nthree\n")
    assert unlabelled(lines) == [(1, "one", ""), (2, "", ""), (3, "three", "")]
    assert unlabelled(lines, Reading(documents="blocks")) == [(1, "one", ""), (3, "three", "")]
    assert unlabelled(saved(tmp_path / "a.csv", "text\na\n")) == [(2, "a", "")]
    assert unlabelled(saved(tmp_path / "a.csv", "text,label\na,\nb,x\n")) == [(2, "a", ""), (3, "b", "x")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from\nstdin\n")))
    assert unlabelled("-") == [(1, "from", ""), (2, "stdin", "")]
    assert [text for _, text, _ in unlabelled(tmp_path)] == ["a", "b", "one", "three"]


# --- real data


def test_the_reviews_of_the_lab(shared_data: Path) -> None:
    folder = shared_data / "lab/cls-books"
    for part, count in (("train", 1600), ("valid", 400), ("test", 2000)):
        found = read_labelled(f"{folder}/{part}.review.spm:{folder}/{part}.label")
        assert Counter(row.label for row in found) == {"0": count // 2, "1": count // 2}
        assert all(row.pieces and "▁" not in row.text for row in found)


def test_imdb_quotes_are_characters(shared_data: Path) -> None:
    found = read_labelled(shared_data / "imdb/train.tsv.xz")
    assert Counter(row.label for row in found) == {"0": 12_500, "1": 12_500}
    assert sum(row.text.startswith('"') for row in found) == 550
    assert found[-1].line == 25_001

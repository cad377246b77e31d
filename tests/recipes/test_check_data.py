"""`check data` counts, names and drops what a user would be ashamed to publish."""

import codecs
import csv
import gzip
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from headstart.errors import DataError, RunError
from headstart.recipes import check_data as recipe
from headstart.recipes.check_data import DataReport, check_data, name_inputs
from headstart.recipes.labels import label_names
from headstart.text.guard import parts
from headstart.text.readers import read_rows
from headstart.text.records import Reading
from headstart.text.tokenizer import Tokenizer

Rows = list[tuple[str, str]]
SYLLABLES = ["ka", "ro", "mi", "tu", "le", "sa", "no", "vi", "pe", "du", "ga", "xo"]


def texts(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    words = lambda: "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4)))  # noqa: E731
    return [" ".join(words() for _ in range(30)) for _ in range(count)]


CLEAN = {"train": 12, "valid": 6, "test": 7}  # rows at the start of each part that a cleaned copy keeps


def planted() -> dict[str, Rows]:
    train, valid, test = texts(1, 12), texts(2, 6), texts(3, 6)
    rows = {
        "train": [(text, "ab"[n % 2]) for n, text in enumerate(train)],
        "valid": [(text, "a") for text in valid],
        "test": [(text, "b") for text in test],
    }
    rows["train"] += [(train[0].upper(), "a"), (test[1], "b"), (f"{test[2]} indeed", "b"), (valid[3], "a")]
    rows["train"] += [("torn between two labels", "a"), ("Torn  between two labels", "b"), ("", "a")]
    rows["train"] += [(f"{test[2]} or not", "b")]
    rows["valid"] += [(test[4], "b"), (valid[0], "a")]
    rows["test"] += [(test[0], "b")]
    return rows


def write_table(path: Path, rows: Rows) -> str:
    if path.suffix == ".parquet":
        columns = {"label": [label for _, label in rows], "text": [text for text, _ in rows], "stars": [3] * len(rows)}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": t, "label": n, "x": [1]}) + "\n" for t, n in rows), "utf-8")
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=mark)
            writer.writerows(
                [("label", "text"), *((n, t.replace(" ", "\n", 1) if mark == "," else t) for t, n in rows)]
            )
    return str(path)


def write_parallel(path: Path, rows: Rows) -> str:
    labels = path.with_suffix(".label")
    path.write_text("".join(text + "\n" for text, _ in rows), "utf-8")
    labels.write_text("".join(label + "\n" for _, label in rows), "utf-8")
    return f"{path}:{labels}"


def checked(specs: dict[str, str], drop: Path | None = None) -> DataReport:
    return check_data(name_inputs(**specs), drop=drop)  # type: ignore[arg-type]


@pytest.fixture
def report(tmp_path: Path) -> DataReport:
    specs = {name: write_table(tmp_path / f"{name}.tsv", rows) for name, rows in planted().items()}
    (tmp_path / "corpus.txt").write_text("\n".join([*texts(9, 20), planted()["test"][3][0]]), "utf-8")
    return checked({"corpus": [str(tmp_path / "corpus.txt")], **specs})  # type: ignore[dict-item]


def test_overlaps_are_counted_in_rows_of_the_second(report: DataReport) -> None:
    json.dumps(report.to_json())
    assert report.overlaps["train-test"] == {"exact": 1, "distinct": 1, "near": 1}
    assert report.overlaps["train-valid"] == {"exact": 1, "distinct": 1, "near": 0}
    assert report.overlaps["valid-test"] == {"exact": 1, "distinct": 1, "near": 0}
    assert report.overlaps["corpus-test"] == {"exact": 1, "distinct": 1, "near": 0}
    assert report.within["train"]["exact"] == 2
    assert report.conflicts == {"texts": 1, "rows": {"corpus": 0, "train": 2, "valid": 0, "test": 0}}
    assert report.parts["train"]["empty"] == 1
    assert report.parts["test"]["labels"] == {"b": 7}


def test_examples_name_file_and_line_on_both_sides(report: DataReport, tmp_path: Path) -> None:
    (found,) = report.examples["overlaps"]["train-test"]["near"]
    assert (found["first"]["file"], found["first"]["line"]) == (str(tmp_path / "train.tsv"), 16)
    assert (found["second"]["file"], found["second"]["line"]) == (str(tmp_path / "test.tsv"), 4)
    assert found["first"]["text"].startswith(planted()["test"][2][0][:100])
    assert len(found["first"]["text"]) <= 160
    (torn,) = report.examples["conflicts"]
    assert [torn[side]["label"] for side in ("first", "second")] == ["a", "b"]


def test_warnings_name_what_was_found_and_where(report: DataReport, tmp_path: Path) -> None:
    said = "\n".join(report.warnings)
    assert (
        f"1 of 7 test rows (14.3 %) also stands in train, first at {tmp_path}/test.tsv:3 = {tmp_path}/train.tsv:15"
        in said
    )
    assert "1 of 7 test rows (14.3 %) also stands in the pretraining corpus" in said
    assert f"1 text in 2 rows carries different labels, first 'a' at {tmp_path}/train.tsv:18" in said
    assert f"1 of 20 train rows (5.0 %) is empty, first at {tmp_path}/train.tsv:20" in said
    assert "all 7 rows of test have the label 'b'" in said
    assert "test" in report.warnings[0]


def test_sound_data_has_no_warnings(tmp_path: Path) -> None:
    specs = {
        name: write_table(tmp_path / f"{name}.tsv", [(t, "ab"[n % 2]) for n, t in enumerate(texts(seed, 10))])
        for seed, name in enumerate(("train", "valid", "test"))
    }
    assert checked(specs).warnings == []


FORMS: dict[str, Callable[[Path, Rows], str]] = {
    **dict.fromkeys([".tsv", ".csv", ".jsonl", ".parquet"], write_table),
    **dict.fromkeys([".txt", ".spm"], write_parallel),
}


@pytest.mark.parametrize("form", FORMS)
def test_cleaned_files_have_the_same_form_and_no_leak(form: str, tmp_path: Path) -> None:
    specs = {name: FORMS[form](tmp_path / f"{name}{form}", rows) for name, rows in planted().items()}
    out = tmp_path / "clean"
    dropped = checked(specs, drop=out).dropped
    reasons = {"empty": 1, "in test": 3, "in valid": 1, "two labels": 2, "repeated": 1}
    assert dropped["rows"]["train"] == {"kept": 12} | reasons
    again = {name: ":".join(str(out / file) for file in dropped["files"][name]) for name in specs}
    for name, rows in planted().items():
        kept = [(row.text, row.label) for row in read_rows(again[name])]
        original = [(row.text, row.label) for row in read_rows(specs[name], labelled=False)]
        assert kept == original[: CLEAN[name]]
        assert len(original) == len(rows)
    assert not any(any(counts.values()) for counts in checked(again).overlaps.values())


def test_kept_lines_are_copied_as_they_were(tmp_path: Path) -> None:
    old = 'label,text,more\r\na,"One ""quoted""\r\ntext,\r\n\r\nlong",1\r\n\r\nb,Two,\r\na, two ,2\r\nb,"Three",x'
    (tmp_path / "train.csv").write_bytes(old.encode())
    checked({"train": str(tmp_path / "train.csv")}, drop=tmp_path / "out")
    new = (tmp_path / "out" / "train" / "train.csv").read_bytes().decode()
    assert new == old[: old.index("b,Two")] + 'b,"Three",x'  # two labels for one text: both went


@pytest.mark.parametrize(
    ("encoding", "mark", "plain"),
    [
        ("utf-8", codecs.BOM_UTF8, "utf-8"),
        ("utf-8", b"", "utf-8"),
        ("utf-8-sig", codecs.BOM_UTF8, "utf-8"),
        ("utf-8-sig", b"", "utf-8"),
        ("utf-16", codecs.BOM_UTF16_LE, "utf-16-le"),
        ("utf-16", codecs.BOM_UTF16_BE, "utf-16-be"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "utf-16-be"),
        ("utf-16-be", b"", "utf-16-be"),
        ("utf-32", codecs.BOM_UTF32_BE, "utf-32-be"),
        ("windows-1252", b"", "windows-1252"),
    ],
)
def test_a_copy_begins_with_the_mark_of_its_file(encoding: str, mark: bytes, plain: str, tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(mark + "text\nÉté\nété\nNoël\n".encode(plain))
    check_data(name_inputs(train=str(path), reading=Reading(encoding=encoding)), drop=tmp_path / "out")
    assert (tmp_path / "out" / "train" / "train.csv").read_bytes() == mark + "text\nÉté\nNoël\n".encode(plain)


PACKINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "": (bytes, bytes),
    ".gz": (gzip.compress, gzip.decompress),
    ".xz": (lzma.compress, lzma.decompress),
    ".zst": (zstandard.compress, lambda packed: zstandard.ZstdDecompressor().stream_reader(packed).read()),
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_corpus_keeps_its_folders_blocks_and_packing(packing: str, tmp_path: Path) -> None:
    one, two, three = texts(4, 3)
    for name, content in {"a/x": f"{one}\n{two}\n\n\n{three}\n", "b/x": f"\n{three}\n\n{one}\n{two}\n\n{two}"}.items():
        path = tmp_path / "corpus" / f"{name}.txt{packing}"
        path.parent.mkdir(parents=True)
        path.write_bytes(PACKINGS[packing][0](content.encode()))
    inputs = name_inputs([tmp_path / "corpus"], reading=Reading(documents="blocks"))
    report = check_data(inputs, drop=tmp_path / "out")
    assert report.dropped["files"]["corpus"] == [f"corpus/{name}/x.txt{packing}" for name in "ab"]
    left = [PACKINGS[packing][1]((tmp_path / "out" / name).read_bytes()) for name in report.dropped["files"]["corpus"]]
    assert left == [f"{one}\n{two}\n\n\n{three}\n".encode(), f"\n{two}".encode()]


def test_a_block_with_a_test_text_in_it_is_named_and_dropped(tmp_path: Path) -> None:
    one, two, three, four, five = texts(5, 5)
    (tmp_path / "corpus.txt").write_text(f"{one}\n{two}\n\n{three}\n{four}\n\n{five}\n{two}\n", "utf-8")
    (tmp_path / "test.txt").write_text(f"{two}\n", "utf-8")
    report = check_data(name_inputs([tmp_path / "corpus.txt"], test=tmp_path / "test.txt"), drop=tmp_path / "out")
    assert report.overlaps["corpus-test"]["exact"] == 1
    assert "in the pretraining corpus" in report.warnings[0]
    assert (tmp_path / "out" / "corpus" / "corpus.txt").read_text("utf-8") == f"{three}\n{four}\n\n"


def test_lopsided_and_unheard_of_labels_are_named(tmp_path: Path) -> None:
    train = write_table(tmp_path / "train.tsv", [(text, "a") for text in texts(6, 30)] + [(texts(7, 1)[0], "b")])
    test = write_table(tmp_path / "test.tsv", [(text, "ac"[n % 2]) for n, text in enumerate(texts(8, 4))])
    said = "\n".join(checked({"train": train, "test": test}).warnings)
    assert "97 % of the rows of train have the label 'a'" in said
    assert "test has labels that train never has, so no model can learn them: 'c'" in said


def test_a_link_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("text\nOne\none\n", "utf-8")
    (tmp_path / "train.tsv").symlink_to(tmp_path / "blob")
    checked({"train": str(tmp_path / "train.tsv")}, drop=tmp_path / "out")
    assert (tmp_path / "out" / "train" / "train.tsv").read_text("utf-8") == "text\nOne\n"


def test_an_existing_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(RunError, match="already there"):
        check_data((), drop=tmp_path / "out")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    spec = write_table(tmp_path / "train.tsv", planted()["train"])
    monkeypatch.setattr(recipe, "copy_without", full)
    with pytest.raises(DataError, match="No space left"):
        checked({"train": spec}, drop=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing to check"):
        name_inputs()
    with pytest.raises(DataError, match="read twice"):
        name_inputs(test="-")
    with pytest.raises(DataError, match="no such file"):
        name_inputs(test=tmp_path / "test.tsv")


def test_the_lab_files(shared_data: Path) -> None:
    books = shared_data / "lab" / "cls-books"
    specs = {name: f"{books}/{name}.review.spm:{books}/{name}.label" for name in ("train", "valid", "test")}
    report = check_data(name_inputs(**specs), tokenizer=Tokenizer.load(shared_data / "lab"))  # type: ignore[arg-type]
    exact = {pair: counts["exact"] for pair, counts in report.overlaps.items()}
    assert exact == {"train-test": 43, "valid-test": 12, "train-valid": 13}
    assert [report.parts[name]["unknown"]["tokens"] for name in specs] == [126, 42, 189]
    assert report.conflicts["texts"] == 0


def test_exact_duplicates_in_imdb(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the near ones, for time's sake; `python -m benchmarks.guard` looks for both."""
    monkeypatch.setattr(parts, "bare_words", lambda text: "")
    report = checked({name: str(shared_data / "imdb" / f"{name}.tsv.xz") for name in ("train", "test")})
    assert report.overlaps["train-test"] == {"exact": 123, "distinct": 123, "near": 0}


def test_translations_taken_for_labels_are_noticed(tmp_path: Path) -> None:
    for name, lines in (("train.en", texts(1, 150)), ("train.fr", texts(2, 150))):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    spec = f"{tmp_path}/train.en:{tmp_path}/train.fr"
    found = check_data(name_inputs((), spec, "", "", Reading()))
    assert any("train: 150 different labels in 150 rows" in warning for warning in found.warnings)
    with pytest.raises(DataError, match="150 different labels in 150 rows: is that the column of the labels"):
        label_names(list(read_rows(spec)))

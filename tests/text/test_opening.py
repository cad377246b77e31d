"""Bytes on disk to lines: ends of lines, encodings, archives, limits."""

import gzip
import lzma
import os
import random
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from headstart.errors import DataError
from headstart.text.reading.archives import CHUNK, unpack
from headstart.text.reading.opening import read_lines
from headstart.text.reading.sources import source_at
from headstart.text.records import Reading

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lambda content: lzma.compress(content, preset=0),
    ".zst": zstandard.ZstdCompressor().compress,
}
ARCHIVES = [".gz", ".xz", ".zst"]


def lines_of(path: Path, reading: Reading | None = None) -> list[str]:
    return list(read_lines(source_at(path), reading or Reading()))


def refusal(path: Path, reading: Reading | None = None) -> str:
    with pytest.raises(DataError) as caught:
        lines_of(path, reading)
    return str(caught.value)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb\r\n\r\n", ["a", "b", ""]),
        (b"a\r\r\n", ["a\r"]),
        ("a\rb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h\n".encode(), ["a\rb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
    ],
)
def test_a_line_ends_at_newline_only(tmp_path: Path, ending: str, content: bytes, lines: list[str]) -> None:
    assert lines_of(written(tmp_path / f"a.txt{ending}", PACKERS[ending](content))) == lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_one_byte_order_mark_is_dropped_and_no_more(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding in ("utf-8-sig", "utf-16", "utf-32") else "\ufeff"
    path = written(tmp_path / "a.txt", f"{mark}\ufeffa\n\ufeffb".encode(encoding))
    assert lines_of(path, Reading(encoding=encoding)) == ["\ufeffa", "\ufeffb"]


@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]))),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"]),
)
def test_lines_come_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, encoding: str
) -> None:
    lines = [line.rstrip("\r") for line in lines]
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes("".join(["\ufeff" * (encoding == "utf-8"), *(line + end for line in lines)]).encode(encoding))
    assert lines_of(path, Reading(encoding=encoding)) == lines


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_characters_and_line_ends_across_chunks(tmp_path: Path, ending: str, end: str) -> None:
    random.seed(3)
    lines = ["é€😀x"[k % 4] * random.randrange(400) for k in range(CHUNK // 150)] + ["a" * 3 * CHUNK, "", "b"]
    for shift in range(3):
        content = ("z" * shift + end.join(lines)).encode()
        assert len(content) > 3 * CHUNK
        path = written(tmp_path / f"a.txt{ending}", PACKERS[ending](content))
        assert lines_of(path) == ["z" * shift + lines[0], *lines[1:]]


@pytest.mark.parametrize("ending", ARCHIVES)
def test_archives_made_of_several_parts_are_read_whole(tmp_path: Path, ending: str) -> None:
    parts = b"".join(PACKERS[ending](part) for part in (b"one\ntw", b"o\n", b"three"))
    assert lines_of(written(tmp_path / f"a.txt{ending}", parts)) == ["one", "two", "three"]


@pytest.mark.parametrize("ending", PACKERS)
def test_progress_adds_up_to_the_size_on_disk(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"a.txt{ending}", PACKERS[ending](os.urandom(CHUNK).hex().encode()))
    steps: list[int] = []
    assert len(list(read_lines(source_at(path), advance=steps.append))) == 1
    assert sum(steps) == path.stat().st_size
    assert len([step for step in steps if step]) >= 2


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "big.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(32):
            file.write(b"".join(b"%d some words of a review that nobody wrote\n" % n for n in range(20_000)))
    source = source_at(path)
    tracemalloc.start()
    count = sum(1 for _ in read_lines(source, Reading(largest_ratio=1000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 32 * 20_000
    assert peak < 12 * CHUNK  # of 31 MB


@pytest.mark.parametrize(
    ("text", "encoding", "guess"),
    [
        ("un été\nà la plage\n", "iso-8859-1", "iso-8859-1"),
        ("été\n", "iso-8859-1", "iso-8859-1"),
        ("un été\nl’œuvre – 5 €\n", "windows-1252", "windows-1252"),
        ("un été\nà la plage\n", "utf-16", "utf-16"),
        ("un été\nà la plage\n", "utf-32", "utf-32"),
        ("un été\nà la plage\n", "utf-16-le", "utf-16le"),
        ("a summer\non the beach\n", "utf-16-be", "utf-16be"),
    ],
)
def test_another_encoding_is_refused_with_the_command_to_run(
    tmp_path: Path, text: str, encoding: str, guess: str
) -> None:
    path = written(tmp_path / "un été.txt", text.encode(encoding))
    said = refusal(path)
    assert said.startswith(f"{path}:1: ")
    assert f"looks like {guess}" in said
    assert f"iconv -f {guess} -t utf-8 < '{path}' > '{tmp_path}/un été.utf8.txt'" in said
    assert f"--encoding {guess}" in said
    assert lines_of(path, Reading(encoding=guess)) == text.split("\n")[:-1]


@pytest.mark.parametrize("lines", [7, 300_000])
def test_the_line_of_the_bad_byte_is_named(tmp_path: Path, lines: int) -> None:
    path = written(tmp_path / "a.txt.gz", gzip.compress("ça\n".encode() * lines + b"\xe9t\xe9\n"))
    said = refusal(path)
    assert said.startswith(f"{path}:{lines + 1}: not utf-8 (byte 0xE9")
    assert f"damaged. Drop such bytes: gzip -dc < {path} | iconv -c -f utf-8 -t utf-8 | gzip > " in said


@pytest.mark.parametrize(
    ("text", "encoding"), [("Мороз и солнце; день чудесный!", "windows-1251"), ("日本語のテキスト", "shift_jis")]
)
def test_a_script_we_cannot_guess(tmp_path: Path, text: str, encoding: str) -> None:
    said = refusal(written(tmp_path / "a.txt", text.encode(encoding)))
    assert "can't be guessed" in said
    assert "--encoding ENCODING" in said


def test_a_file_that_ends_within_a_character(tmp_path: Path) -> None:
    assert ":2: not utf-8 (byte 0xC3: unexpected end of data)" in refusal(written(tmp_path / "a.txt", b"a\nb\xc3"))


def test_encodings_that_are_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"a")
    for name in ("utf-9", "rot13", "base64", ""):
        assert f"--encoding {name}: no such text encoding" in refusal(path, Reading(encoding=name))
    assert ":1: not ascii" in refusal(written(path, b"\xe9"), Reading(encoding="ascii"))


def test_nul_bytes_are_refused(tmp_path: Path) -> None:
    said = refusal(written(tmp_path / "a.txt", b"one\ntwo\nthr\0ee\n"))
    assert said.startswith(f"{tmp_path}/a.txt:3: a NUL byte")
    assert "tr -d '\\000'" in said
    assert "this is a binary file" in refusal(written(tmp_path / "a.txt", b"\x80\x04\x95\x10\0\0\0\x11\x12\x13"))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (gzip.compress(b"a"), "a gzip file; let its name end in .gz"),
        (lzma.compress(b"a"), "an xz file"),
        (zstandard.compress(b"a"), "a zstd file"),
        (b"PK\x03\x04\x14\x00", "a zip file"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF file; take its text out with pdftotext"),
        (b"PAR1\x15\x04\x15\x10", "a parquet file; let its name end in .parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word or Excel file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
    ],
)
def test_a_binary_file_is_called_by_its_name(tmp_path: Path, content: bytes, kind: str) -> None:
    for encoding in ("utf-8", "iso-8859-1"):
        said = refusal(written(tmp_path / "a.txt", content), Reading(encoding=encoding))
        assert f"not a text file: it looks like {kind}" in said


@pytest.mark.parametrize("ending", ARCHIVES)
def test_a_truncated_archive_is_refused(tmp_path: Path, ending: str) -> None:
    whole = PACKERS[ending](os.urandom(300_000).hex().encode())
    for size in (len(whole) // 2, len(whole) - 1):
        path = written(tmp_path / f"a.txt{ending}", whole[:size])
        assert f"{path}: this archive is truncated" in refusal(path)


@pytest.mark.parametrize("ending", ARCHIVES)
def test_a_damaged_archive_is_refused(tmp_path: Path, ending: str) -> None:
    packer = zstandard.ZstdCompressor(write_checksum=True).compress if ending == ".zst" else PACKERS[ending]
    content = bytearray(packer(os.urandom(300_000).hex().encode()))
    content[200_000] ^= 0xFF
    path = written(tmp_path / f"a.txt{ending}", bytes(content))
    said = refusal(path)
    assert f"{path}: this archive is damaged" in said
    assert f" -t {path}" in said


@pytest.mark.parametrize("ending", ARCHIVES)
def test_an_archive_with_the_wrong_name_is_told(tmp_path: Path, ending: str) -> None:
    assert f"named {ending}, but it is something else" in refusal(written(tmp_path / f"a.txt{ending}", b"just text"))
    assert f"named {ending}, but it is a zip file" in refusal(written(tmp_path / f"a.txt{ending}", b"PK\x03\x04" * 9))


@pytest.mark.parametrize("ending", ARCHIVES)
def test_a_decompression_bomb_is_stopped_early(tmp_path: Path, ending: str) -> None:
    source = source_at(written(tmp_path / f"a.txt{ending}", PACKERS[ending](bytes(80 << 20))))
    sizes: list[int] = []
    tracemalloc.start()
    with pytest.raises(DataError) as caught:
        sizes.extend(map(len, unpack(source)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"{source.name}: unpacks to more than 200 times its" in str(caught.value)
    assert sum(sizes) <= 64 << 20
    assert peak < 40 << 20
    advice = re.search(r"--set reading.largest_ratio=(\d+) lets it grow to 100 GB", str(caught.value))
    assert advice is not None
    assert sum(map(len, unpack(source, Reading(largest_ratio=int(advice[1]))))) == 80 << 20


def test_a_bomb_is_stopped_where_its_size_has_no_limit(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt.gz", gzip.compress(b"a" * (80 << 20)))
    assert "lets it grow to inf GB" in refusal(path, Reading(largest_gigabytes=float("inf")))


def test_the_size_limit_names_its_setting(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt.gz", gzip.compress(os.urandom(CHUNK).hex().encode()))
    said = refusal(path, Reading(largest_gigabytes=0.001))
    assert "more than 0.001 GB" in said
    assert "--set reading.largest_gigabytes=0.01" in said


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headstart.text.reading.opening.LONGEST", 2 * CHUNK)
    path = written(tmp_path / "a.txt", b"short\n" + b"a" * (4 * CHUNK))
    assert f"{path}:2: a line of more than" in refusal(path)


def test_a_file_we_may_not_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"a")
    source = source_at(path)
    path.unlink()
    with pytest.raises(DataError, match=r"a\.txt: No such file or directory"):
        list(read_lines(source))

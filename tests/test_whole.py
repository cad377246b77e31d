"""A folder that is written whole or not at all."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headstart.errors import CheckpointError
from headstart.whole import MANIFEST, find_whole, verify, write_whole


def write(folder: Path, text: str) -> None:
    def fill(new: Path) -> None:
        (new / "deep").mkdir()
        (new / "one").write_text(text)
        (new / "deep" / "two").write_text(text * 2)

    write_whole(folder, fill)


def test_a_second_write_replaces_the_first_and_leaves_nothing_behind(tmp_path: Path) -> None:
    write(tmp_path / "last", "a")
    write(tmp_path / "last", "b")
    assert (find_whole(tmp_path / "last") / "one").read_text() == "b"
    assert [path.name for path in tmp_path.iterdir()] == ["last"]


@pytest.mark.parametrize("name", ["one", "deep/two"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path / "last", "abc")
    file = tmp_path / "last" / name
    content = file.read_text()
    for damaged, said in ((content[:-1], "truncated"), ("x" + content[1:], "altered")):
        file.write_text(damaged)
        with pytest.raises(CheckpointError, match=f"{name}.*{said}"):
            verify(tmp_path / "last")
    file.unlink()
    with pytest.raises(CheckpointError, match=f"{name}: missing"):
        verify(tmp_path / "last")


def test_an_added_file_is_named(tmp_path: Path) -> None:
    write(tmp_path / "last", "abc")
    (tmp_path / "last" / "evil.py").write_text("")
    with pytest.raises(CheckpointError, match=r"evil\.py"):
        verify(tmp_path / "last")


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "a/../../outside", "..\\outside"])
def test_no_path_leaves_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").write_text("secret")
    write(tmp_path / "last", "abc")
    manifest = tmp_path / "last" / MANIFEST
    table = json.loads(manifest.read_text())
    table["files"][name] = [6, "0"]
    manifest.write_text(json.dumps(table))
    with pytest.raises(CheckpointError, match="leaves the folder"):
        verify(tmp_path / "last")


def test_a_linked_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "last", "abc")
    (tmp_path / "elsewhere").write_text("abc")
    (tmp_path / "last" / "one").unlink()
    (tmp_path / "last" / "one").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="one: missing"):
        verify(tmp_path / "last")


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"files": 3}', '{"files": {"one": 3}}', '{"files": {"one": [Infinity, "x"]}}', "\xff", "[" * 99_999],
)
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path / "last", "abc")
    (tmp_path / "last" / MANIFEST).write_text(text, "latin-1")
    with pytest.raises(CheckpointError, match=MANIFEST):
        verify(tmp_path / "last")


def test_readers_fall_back_to_the_one_before(tmp_path: Path) -> None:
    write(tmp_path / "last", "a")
    (tmp_path / "last").rename(tmp_path / "last.old")  # the machine stopped between two renames
    assert (find_whole(tmp_path / "last") / "one").read_text() == "a"
    write(tmp_path / "last", "b")
    assert (find_whole(tmp_path / "last") / "one").read_text() == "b"
    assert not (tmp_path / "last.old").exists()


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    write(tmp_path / "last", "a")

    def fill(new: Path) -> None:
        (new / "one").write_text("b")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CheckpointError, match="the disk is full"):
        write_whole(tmp_path / "last", fill)
    assert (find_whole(tmp_path / "last") / "one").read_text() == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["last"]


WRITER = """
import sys
from pathlib import Path
from headstart.whole import write_whole
for i in range(100_000):
    def fill(new):
        for name in "abc":
            (new / name).write_text(str(i) * 20_000)
    write_whole(Path(sys.argv[1]), fill)
    print(i, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_killed_at_any_moment_one_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "last"
    for trial in range(12):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * trial)
        process.send_signal(signal.SIGKILL)
        process.wait()
        texts = {(find_whole(folder) / name).read_text() for name in "abc"}
        assert len(texts) == 1


def test_what_a_user_keeps_beside_a_folder_of_his_own_stays(tmp_path: Path) -> None:
    from headstart.folder import whole_folder

    for text in "ab":
        with whole_folder(tmp_path / "mine", "card", private=False) as new:
            (new / "card").write_text(text)
        shutil.copytree(tmp_path / "mine", tmp_path / "mine.old", dirs_exist_ok=True)
    assert (tmp_path / "mine.old" / "card").read_text() == "b"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "mine.old"]

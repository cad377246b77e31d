"""A tokenizer is saved whole, read back the same, and refused when it is damaged."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from text.small_texts import small_texts

from headstart.errors import TokenizerError
from headstart.text.pieces import saved as tokenizer_folder
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

OURS = train_tokenizer(small_texts(), 400, normalise="nfc")
TEXT = "kari <mask> ▁ e\u0301 日本"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    OURS.save(tmp_path / "tokenizer")
    return tmp_path / "tokenizer"


def lab_like(folder: Path) -> Path:
    """A model and a dictionary in an order of its own, with a piece that the model lacks and one missing."""
    folder.mkdir()
    (folder / "some.model").write_bytes(OURS.source.model)
    pieces = [OURS.piece(id) for id in range(OURS.size - 1, 7, -1)]
    (folder / "dict.txt").write_text(
        "".join(f"{piece} 1\n" for piece in ["▁Madeup", *pieces] if "\n" not in piece), "utf-8"
    )
    return folder


def test_saved_and_read_back(saved: Path, tmp_path: Path) -> None:
    copy = Tokenizer.load(saved)
    assert (copy.hash, copy.size, copy.training) == (OURS.hash, OURS.size, OURS.training)
    assert copy.encode(TEXT) == OURS.encode(TEXT)
    assert Tokenizer.load(saved / "tokenizer.model").hash == OURS.hash
    saved.rename(tmp_path / "elsewhere")
    assert Tokenizer.load(str(tmp_path / "elsewhere")).hash == OURS.hash
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere"]


def test_card_says_what_it_is(saved: Path) -> None:
    card = json.loads((saved / "tokenizer.json").read_text("utf-8"))
    assert (card["kind"], card["size"], card["normalise"], card["hash"]) == ("trained", 400, "nfc", OURS.hash)
    assert card["specials"] == ["<sos>", "<pad>", "<eos>", "<oov>", "<mask>", "<cls>", "<sep>"]
    assert card["training"]["texts"] == 200


def test_other_kinds_are_saved_too(tmp_path: Path) -> None:
    pair = Tokenizer.load(lab_like(tmp_path / "lab"))
    bare = Tokenizer.load(tmp_path / "lab" / "some.model")
    for number, tokenizer in enumerate((pair, pair.with_bidirectional(), bare, bare.with_bidirectional())):
        tokenizer.save(tmp_path / str(number))
        copy = Tokenizer.load(tmp_path / str(number))
        assert copy.hash == tokenizer.hash
        assert copy.size == tokenizer.size
        assert copy.encode(TEXT) == tokenizer.encode(TEXT)
    assert len({Tokenizer.load(tmp_path / str(number)).hash for number in range(4)}) == 4


def test_a_dictionary_numbers_the_pieces(tmp_path: Path) -> None:
    pair = Tokenizer.load(lab_like(tmp_path / "lab"))
    assert pair.piece(4) == "▁Madeup"
    assert pair.decode([4, *pair.encode("mi")]).strip() == "Madeup mi"
    assert pair.decode(pair.encode("kari mi")) == "kari mi"
    assert pair.oov in pair.encode("ka\nka")


def test_an_occupied_folder_is_refused(saved: Path, tmp_path: Path) -> None:
    other = train_tokenizer(small_texts(1), 300)
    with pytest.raises(TokenizerError, match="--force"):
        other.save(saved)
    assert Tokenizer.load(saved).hash == OURS.hash
    other.save(saved, overwrite=True)
    assert Tokenizer.load(saved).hash == other.hash
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("dear")
    with pytest.raises(TokenizerError, match="not part of a tokenizer"):
        other.save(tmp_path / "home", overwrite=True)
    (tmp_path / "empty").mkdir()
    other.save(tmp_path / "empty")
    (saved / "pytorch_model.bin").write_text("precious")  # such as another library's model beside its tokenizer.json
    with pytest.raises(TokenizerError, match=r"pytorch_model\.bin"):
        other.save(saved, overwrite=True)


def test_a_neighbour_is_not_deleted(tmp_path: Path) -> None:
    for name in ("out.new", "out.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "letter").write_text("dear")
    with pytest.raises(TokenizerError, match=r"out\.new"):
        OURS.save(tmp_path / "out")
    assert (tmp_path / "out.new" / "letter").exists()
    shutil.rmtree(tmp_path / "out.new")
    for _ in range(2):
        OURS.save(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out.old" / "letter").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.old"]


def test_the_current_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TokenizerError, match="the folder you stand in"):
        OURS.save(Path())


def test_a_crash_leaves_the_old_one(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "tokenizer.model")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(TokenizerError, match="No space left"):
            OURS.save(saved, overwrite=True)
    assert [path.name for path in saved.parent.iterdir()] == ["tokenizer"]
    saved.rename(saved.with_name("tokenizer.old"))
    assert Tokenizer.load(saved).hash == OURS.hash


def change(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).write_bytes(edit((folder / name).read_bytes()))

    return damage


def card(**fields: object) -> Callable[[Path], None]:
    return change("tokenizer.json", lambda text: json.dumps({**json.loads(text), **fields}).encode())


DAMAGES = {
    "truncated model": (change("tokenizer.model", lambda content: content[:-10]), "tokenizer.model"),
    "changed model": (change("tokenizer.model", lambda c: c.replace(b"ka", b"kz")), "tokenizer.model is not"),
    "empty model": (change("tokenizer.model", lambda _: b""), "tokenizer.model: empty"),
    "missing model": (lambda folder: (folder / "tokenizer.model").unlink(), "tokenizer.model: missing"),
    "truncated card": (change("tokenizer.json", lambda content: content[:40]), "tokenizer.json: not valid JSON"),
    "card of a list": (change("tokenizer.json", lambda _: b"[]"), "tokenizer.json: 'format'"),
    "deep card": (change("tokenizer.json", lambda _: b"[" * 100_000), "tokenizer.json"),
    "card not UTF-8": (change("tokenizer.json", lambda _: b"\xff\xfe{"), "tokenizer.json"),
    "other kind": (card(kind="magic"), "unknown kind 'magic'"),
    "other form": (card(normalise="none"), "is not the one"),
    "wrong type": (card(bidirectional=1), "'bidirectional'"),
    "later format": (card(format=2), "another version"),
    "pair without a dictionary": (card(kind="pair"), "dict.txt: missing"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(saved: Path, name: str) -> None:
    damage, message = DAMAGES[name]
    damage(saved)
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.load(saved)


DICTIONARIES = {
    "no count": ("▁le 1\n▁la\n", "dict.txt, line 2"),
    "twice": ("▁le 1\n▁la 1\n▁le 1\n", "line 3: '▁le' stands on line 1"),
    "blank": ("▁le 1\n\n▁la 1\n", "line 2"),
    "another model": ("▁Zürich 1\n▁Bern 1\n", "another model"),
    "empty": ("", "dict.txt: empty"),
}


@pytest.mark.parametrize("name", DICTIONARIES)
def test_a_bad_dictionary_is_named(tmp_path: Path, name: str) -> None:
    content, message = DICTIONARIES[name]
    folder = lab_like(tmp_path / "lab")
    (folder / "dict.txt").write_text(content, "utf-8")
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.load(folder)


def test_files_that_are_no_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "corpus.txt"
    text.write_text("dear reader")
    with pytest.raises(TokenizerError, match=r"corpus.txt: not a SentencePiece model"):
        Tokenizer.load(text)
    with pytest.raises(TokenizerError, match="no such tokenizer"):
        Tokenizer.load(tmp_path / "nowhere")
    with pytest.raises(TokenizerError, match=r"one .model file, found none"):
        Tokenizer.load(tmp_path)
    monkeypatch.setattr(tokenizer_folder, "LARGEST", 5)
    with pytest.raises(TokenizerError, match="larger than"):
        Tokenizer.load(text)


def test_two_models_in_a_folder(tmp_path: Path) -> None:
    folder = lab_like(tmp_path / "lab")
    shutil.copy(folder / "some.model", folder / "other.model")
    with pytest.raises(TokenizerError, match=r"other.model, some.model"):
        Tokenizer.load(folder)


def test_a_foreign_model_cannot_pose_as_ours(saved: Path) -> None:
    card(bidirectional=False)(saved)
    with pytest.raises(TokenizerError):
        Tokenizer.load(saved)

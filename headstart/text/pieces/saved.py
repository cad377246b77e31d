"""A tokenizer on disk: a folder of ours, somebody's .model file, or a .model with its dict.txt."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.errors import TokenizerError
from headstart.folder import is_occupied, survivor, whole_folder
from headstart.text.pieces import dictionary
from headstart.text.pieces.forms import FORMS
from headstart.text.pieces.source import KINDS, Source

MODEL, DICTIONARY, CARD = "tokenizer.model", "dict.txt", "tokenizer.json"
FORMAT = 1
LARGEST = 256 * 1024 * 1024  # bytes; the largest models in use are about 5 MB


@dataclass(frozen=True)
class Saved:
    """A source, how it was trained (nothing for a model of somebody else), and where it was found."""

    source: Source
    training: Mapping[str, Any]
    place: Path


def check_free(folder: Path, overwrite: bool) -> None:
    """Refuse a folder that is in use; `overwrite` allows one that holds a tokenizer and nothing else's."""
    if folder.resolve() == Path.cwd():
        raise TokenizerError(f"{folder}: is the folder you stand in; name a new one, such as --out tokenizer")
    if not is_occupied(folder):
        return
    if not folder.is_dir():
        raise TokenizerError(f"{folder}: is a file, but a folder is to be written there; choose another --out")
    if not overwrite:
        raise TokenizerError(f"{folder}: already exists; choose another --out, or replace it with --force")
    others = [path.name for path in folder.iterdir() if path.name not in (MODEL, DICTIONARY, CARD)]
    if others or not (folder / CARD).is_file() or not (folder / MODEL).is_file():
        what = f"{others[0]!r}, which is" if others else "something that is"
        raise TokenizerError(f"{folder}: holds {what} not part of a tokenizer; choose another --out")


def write(source: Source, training: Mapping[str, Any], size: int, folder: Path, overwrite: bool) -> None:
    check_free(folder, overwrite)
    card = {
        "format": FORMAT,
        "kind": source.kind,
        "size": size,
        "specials": source.specials,
        "bidirectional": source.bidirectional,
        "normalise": source.normalise,
        "hash": source.hash,
        "training": dict(training),
    }
    try:
        with whole_folder(folder, CARD, private=False) as fresh:
            (fresh / MODEL).write_bytes(source.model)
            if source.kind == "pair":
                (fresh / DICTIONARY).write_bytes(dictionary.compose(source.pieces))
            text = json.dumps(card, indent=2, ensure_ascii=False)
            (fresh / CARD).write_text(text + "\n", "utf-8", newline="\n")
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise TokenizerError(f"{problem.filename or folder}: cannot save the tokenizer: {reason}") from None


def read(path: Path) -> Saved:
    path = survivor(Path(path))
    if path.name == MODEL and (path.parent / CARD).is_file():
        path = path.parent
    if path.is_file():
        return Saved(Source(kind="wrapped", model=_bytes(path)), {}, path)
    if not path.is_dir():
        raise TokenizerError(
            f"{path}: no such tokenizer; give a folder written by 'headstart tokenizer', or a .model file"
        )
    return _read_ours(path) if (path / CARD).exists() else _read_theirs(path)


def _read_ours(folder: Path) -> Saved:
    card = _card(folder / CARD)
    source = Source(
        kind=card["kind"],
        model=_bytes(folder / MODEL),
        pieces=_pieces(folder / DICTIONARY) if card["kind"] == "pair" else (),
        normalise=card["normalise"],
        bidirectional=card["bidirectional"],
    )
    if source.hash != card["hash"]:
        names = f"{MODEL} or {DICTIONARY}" if source.pieces else MODEL
        raise TokenizerError(
            f"{folder}: {names} is not the one that {CARD} describes (hash {source.hash[:12]}, expected "
            f"{card['hash'][:12]}): it was changed or damaged; copy the folder again or train a new tokenizer"
        )
    return Saved(source, card["training"], folder)


def _read_theirs(folder: Path) -> Saved:
    models = sorted(folder.glob("*.model"))
    if len(models) != 1:
        found = ", ".join(path.name for path in models) or "none"
        raise TokenizerError(f"{folder}: a tokenizer folder has one .model file, found {found}; name the file itself")
    if not (folder / DICTIONARY).exists():
        return Saved(Source(kind="wrapped", model=_bytes(models[0])), {}, models[0])
    source = Source(kind="pair", model=_bytes(models[0]), pieces=_pieces(folder / DICTIONARY))
    return Saved(source, {}, folder)


def _card(path: Path) -> dict[str, Any]:
    try:
        card = json.loads(_bytes(path))
    except (ValueError, RecursionError):
        raise TokenizerError(f"{path}: not valid JSON: the file is damaged") from None
    kinds = {"format": int, "kind": str, "bidirectional": bool, "normalise": str, "hash": str}
    for name, kind in {**kinds, "training": dict}.items():
        if not isinstance(card, dict) or type(card.get(name)) is not kind:
            raise TokenizerError(f"{path}: '{name}' is missing or not what it should be: the file is damaged")
    if card["format"] != FORMAT:
        raise TokenizerError(f"{path}: format {card['format']} needs another version of headstart")
    if card["kind"] not in KINDS or card["normalise"] not in FORMS:
        raise TokenizerError(f"{path}: unknown kind '{card['kind']}' or unknown normalise '{card['normalise']}'")
    return card


def _pieces(path: Path) -> tuple[str, ...]:
    return dictionary.parse(_bytes(path), path)


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise TokenizerError(f"{path}: larger than {LARGEST >> 20} MB, so this is no tokenizer file")
        content = path.read_bytes()
    except FileNotFoundError:
        raise TokenizerError(f"{path}: missing") from None
    except OSError as problem:
        raise TokenizerError(f"{path}: {problem.strerror}") from None
    if not content:
        raise TokenizerError(f"{path}: empty")
    return content

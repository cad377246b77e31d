"""Run files: TOML in, frozen and checked dataclasses out. The file is the whole truth about a run."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from headstart.errors import ConfigError

T = TypeVar("T")
Table = dict[str, Any]


def load(kind: type[T], *, preset: str | None = None, file: Path | None = None, overrides: Sequence[str] = ()) -> T:
    """Build a `kind` from a preset, then a file on top, then overrides such as "train.rate=3e-4"."""
    table: Table = {}
    where = "settings"
    if preset is not None:
        table, where = read_preset(preset), f"preset {preset}"
    if file is not None:
        table, where = merge(table, read_file(file)), str(file)
    for override in overrides:
        _apply(table, override)
        where = f"{where} with --set"
    return build(kind, table, where if not overrides else f"{where.split(' with ')[0]} with --set")


def presets() -> list[str]:
    """The names that --preset takes."""
    return sorted(p.name.removesuffix(".toml") for p in _preset_folder().iterdir() if p.name.endswith(".toml"))


def read_preset(name: str) -> Table:
    if name not in presets():
        raise ConfigError(f"unknown preset '{name}'.{did_you_mean(name, presets())}")
    return tomllib.loads((_preset_folder() / f"{name}.toml").read_text("utf-8"))


def read_file(path: Path) -> Table:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such settings file") from None
    except OSError as problem:
        raise ConfigError(f"{path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: not valid TOML: {problem}") from None


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> Table:
    """`above` wins, section by section."""
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        merged[name] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def build(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """Check every name and type, then let the class check what its numbers mean together."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in table:
        if name not in names:
            raise ConfigError(f"{where}: unknown setting '{name}'.{did_you_mean(name, names)}")
    values = {name: _check(hints[name], value, f"{where}: {name}") for name, value in table.items()}
    try:
        return kind(**values)
    except (TypeError, ValueError) as problem:
        raise ConfigError(f"{where}: {problem}") from None


def to_table(settings: Any) -> Table:
    """The opposite of `build`: plain values that tomli_w writes and `build` reads back unchanged."""
    return {name: _plain(value) for name, value in asdict(settings).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def did_you_mean(name: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else f" Known: {', '.join(known)}."


def _check(hint: Any, value: Any, where: str) -> Any:
    if is_dataclass(hint):
        if not isinstance(value, dict):
            raise ConfigError(f"{where} is {value!r}, but a section with settings is needed")
        return build(hint, value, where)  # type: ignore[arg-type]
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            choices = ", ".join(map(repr, get_args(hint)))
            raise ConfigError(f"{where} is {value!r}; choose one of {choices}")
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{where} is {value!r}, but a list is needed")
        return tuple(_check(get_args(hint)[0], item, where) for item in value)
    if hint is float and type(value) is int:
        return float(value)
    if isinstance(hint, type) and type(value) is not hint:
        raise ConfigError(f"{where} is {value!r}, but {_ARTICLE.get(hint, hint.__name__)} is needed")
    return value


_ARTICLE = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _apply(table: Table, override: str) -> None:
    key, sign, text = override.partition("=")
    *sections, name = key.strip().split(".")
    if not sign or not sections or not name:
        raise ConfigError(f"--set {override}: write it as section.name=value, for example --set model.width=256")
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {override}: '{section}' is a setting, not a section")
    try:
        table[name] = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        table[name] = text.strip()


def _preset_folder() -> Any:
    return files("headstart") / "presets"

"""All settings of a run, section by section; a preset, a --config file and --set fill the same class."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headstart.config import load
from headstart.model.shape import Shape


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The whole truth about a run, beside its data."""

    model: Shape = field(default_factory=Shape)


def read_settings(preset: str = "", file: Path | None = None, overrides: Sequence[str] = ()) -> Settings:
    return load(Settings, preset=preset, file=file, overrides=overrides)

"""All settings of a run, section by section; a preset, a --config file and --set fill the same class."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headstart.config import load
from headstart.model.shape import Shape
from headstart.text.records import Reading
from headstart.train.settings import FineTuning, Training, Translating, Windows


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The whole truth about a run, beside its data."""

    model: Shape = field(default_factory=Shape)
    reading: Reading = field(default_factory=Reading)
    data: Windows = field(default_factory=Windows)
    train: Training = field(default_factory=Training)
    finetune: FineTuning = field(default_factory=FineTuning)
    translator: Translating = field(default_factory=Translating)


def read_settings(preset: str | None = None, file: Path | None = None, overrides: Sequence[str] = ()) -> Settings:
    return load(Settings, preset=preset, file=file, overrides=overrides)

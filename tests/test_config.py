"""Settings: what is wrong is said with where it stands and what was probably meant."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
import tomli_w
from hypothesis import given
from model.shapes import shapes

from headstart.config import build, load, presets, read_preset, to_table
from headstart.errors import ConfigError
from headstart.model.shape import Shape
from headstart.recipes.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Inner:
    width: int = 4
    rate: float = 0.1
    kind: Literal["a", "b"] = "a"
    names: tuple[str, ...] = ()
    on: bool = False


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: Inner = field(default_factory=Inner)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("inner.wdith=3", "unknown setting 'wdith'. Did you mean 'width'?"),
        ("iner.width=3", "unknown setting 'iner'. Did you mean 'inner'?"),
        ("inner.width=3.5", "inner: width is 3.5, but a whole number is needed"),
        ("inner.width=true", "inner: width is True, but a whole number is needed"),
        ("inner.rate=fast", "inner: rate is 'fast', but a number is needed"),
        ("inner.kind=c", "inner: kind is 'c'; choose one of 'a', 'b'"),
        ("inner.on=1", "inner: on is 1, but true or false is needed"),
        ("inner=3", "write it as section.name=value"),
        ("inner.width", "write it as section.name=value"),
        ("inner.width.x=1", "inner: width is {'x': 1}"),
        ("inner.names=[1]", "inner: names is 1, but a text is needed"),
    ],
)
def test_a_wrong_setting_is_refused(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as problem:
        load(Outer, overrides=[override])
    assert message in str(problem.value)


def test_overrides_beat_the_file_and_the_file_beats_the_preset(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("[model]\nwidth = 40\ndepth = 3\n")
    shape = load(Settings, preset="lab", file=file, overrides=["model.depth=5", "model.positions=rotary"]).model
    assert (shape.vocabulary, shape.width, shape.depth, shape.positions) == (50_001, 40, 5, "rotary")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    with pytest.raises(ConfigError, match="no such settings file"):
        load(Settings, file=file)
    file.write_text("[model\n")
    with pytest.raises(ConfigError, match=r"run\.toml: not valid TOML"):
        load(Settings, file=file)
    file.write_text("[model]\nwidth = 10\nheads = 3\n")
    with pytest.raises(ConfigError, match="width 10 does not divide into 3 heads"):
        load(Settings, file=file)
    file.write_text("[model]\nsegments = 1\n")
    with pytest.raises(ConfigError, match="segments is 1, but it must be 0, or 2 and more"):
        load(Settings, file=file)


def test_an_unknown_preset_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError, match=r"unknown preset 'tinny'. Did you mean 'tiny'\?"):
        read_preset("tinny")


@pytest.mark.parametrize("name", ["lab", "tiny", "small", "base", "bert-base"])
def test_every_preset_is_valid_and_starts_with_its_command(name: str) -> None:
    assert name in presets()
    load(Settings, preset=name)
    text = (Path(__file__).parents[1] / "headstart" / "presets" / f"{name}.toml").read_text("utf-8")
    assert text.startswith("# headstart ")


@given(shape=shapes())
def test_settings_survive_being_written(shape: Shape) -> None:
    import tomllib

    assert build(Shape, tomllib.loads(tomli_w.dumps(to_table(shape))), "again") == shape

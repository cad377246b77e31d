"""`draw mask` and `draw positions` show what the model uses."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from headstart.errors import HeadstartError
from headstart.recipes.draw import draw_mask, draw_positions
from headstart.report import figures


@pytest.mark.parametrize("length", [4, 7, 12])
def test_the_three_masks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    drawn: list[figures.Mask] = []
    monkeypatch.setattr(figures, "draw_masks", lambda masks, out, title: drawn.extend(masks))
    draw_mask(tmp_path / "mask.svg", length=length)
    alone, padded, packed = drawn
    square = np.tril(np.ones((length, length), dtype=bool))
    assert (alone.allowed == square).all()
    real = np.array([token != "<pad>" for token in padded.labels])
    assert (padded.allowed == square & real).all()
    text = np.cumsum([token == "<sos>" for token in packed.labels])
    assert set(text) == {1, 2}
    assert (packed.allowed == square & (text[:, None] == text)).all()


def test_the_similarity_of_sinusoids_depends_on_distance_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[np.ndarray] = []
    monkeypatch.setattr(figures, "draw_positions", lambda table, similarity, out, title: drawn.append(similarity))
    draw_positions(tmp_path / "positions.svg", length=40, width=64)
    for distance in range(40):
        assert np.ptp(np.diagonal(drawn[0], distance)) < 1e-5


@pytest.mark.parametrize(("length", "width"), [(2, 3), (300, 65)])
def test_positions_of_any_size(tmp_path: Path, length: int, width: int) -> None:
    draw_positions(tmp_path / "positions.svg", length=length, width=width)
    ElementTree.parse(tmp_path / "positions.svg")


def test_the_mask_picture_names_its_tokens(tmp_path: Path) -> None:
    draw_mask(tmp_path / "mask.svg")
    shown = {element.text for element in ElementTree.parse(tmp_path / "mask.svg").iter()}
    assert {"<sos>", "<pad>", "<eos>", "wonder", "A text alone"} < shown


def test_no_picture_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(HeadstartError, match="2 to 5,000"):
        draw_positions(tmp_path / "positions.svg", length=1)
    with pytest.raises(HeadstartError, match="--length 8"):
        draw_mask(tmp_path / "mask.svg", length=0)
    assert not list(tmp_path.iterdir())

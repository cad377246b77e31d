"""Pictures are true, safe, repeatable and whole."""

import base64
import io
import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from headstart.errors import HeadstartError
from headstart.report.figures import draw_attention, draw_mask, draw_positions
from headstart.report.grids import GAP, MARGIN, Grid, lay_out
from headstart.report.labels import WIDEST, readable, width
from headstart.report.style import WIDTH

HOSTILE = [
    r"$\frac{1}{2}$", "$", "<script>alert(1)</script>", "</text></svg>", "]]>&amp;", "\x00\x1b[31m", "\u202eevil",
    "😀", "👨\u200d👩\u200d👧", "العربية", "日本語", "\ud800", "\uffff", "\u0301", " ", "\n", "\t", "", "%s {0}",
]  # fmt: skip


def some_weights(heads: int, rows: int, columns: int) -> np.ndarray:
    weights = np.random.default_rng(0).random((heads, rows, columns))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def texts(picture: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(picture).iter() if element.tag.endswith("}text")]


def images(picture: Path) -> list[np.ndarray]:
    """The colours (rows, columns, 4) of each image inside an SVG file."""
    link = "{http://www.w3.org/1999/xlink}href"
    found = [element.get(link, "") for element in ElementTree.parse(picture).iter() if element.tag.endswith("}image")]
    return [np.array(Image.open(io.BytesIO(base64.b64decode(each.partition(",")[2])))) for each in found]


def test_a_mask_is_blue_where_one_may_look(tmp_path: Path) -> None:
    mask = np.random.default_rng(0).random((7, 7)) < 0.4
    draw_mask(mask, list("abcdefg"), tmp_path / "mask.svg")
    (image,) = images(tmp_path / "mask.svg")
    step = image.shape[0] // 7
    centres = image[step // 2 :: step, step // 2 :: step][:7, :7]
    blue = centres[..., 2].astype(int) - centres[..., 0] > 50
    assert (blue == mask).all()


def test_tokens_stand_on_the_axes_as_text(tmp_path: Path) -> None:
    rows, columns = ["▁Ce", "livre"], ["this", "book", "is"]
    draw_attention(some_weights(3, 2, 3), rows, columns, 2, tmp_path / "attention.svg")
    shown = texts(tmp_path / "attention.svg")
    assert "Where the 3 heads of layer 2 look" in shown
    assert [shown.count(token) for token in ("␣Ce", "livre", "this", "book", "is")] == [1, 1, 3, 3, 3]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_hostile_tokens_neither_crash_nor_warn(tmp_path: Path, ending: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_attention(some_weights(1, 19, 19), HOSTILE, HOSTILE, 1, tmp_path / f"attention.{ending}")


def test_hostile_tokens_inject_no_markup(tmp_path: Path) -> None:
    harmless = ["x"] * len(HOSTILE)
    draw_attention(some_weights(1, 19, 19), HOSTILE, HOSTILE, 1, tmp_path / "hostile.svg")
    draw_attention(some_weights(1, 19, 19), harmless, harmless, 1, tmp_path / "harmless.svg")
    tags = [
        sorted(
            element.tag for element in ElementTree.parse(tmp_path / f"{name}.svg").iter() if "path" not in element.tag
        )
        for name in ("hostile", "harmless")
    ]
    assert tags[0] == tags[1]
    shown = texts(tmp_path / "hostile.svg")
    assert all(shown.count(readable(token)) == 2 for token in HOSTILE)
    assert {"$", "␣", "↵", "⇥", "(empty)", "⟨202E⟩evil", "العربية", "日本語", "👨\u200d👩\u200d👧"} < set(shown)


@given(st.text(st.characters(exclude_categories=())))
def test_any_token_becomes_one_short_line_that_xml_can_hold(token: str) -> None:
    label = readable(token)
    assert label.isprintable() or "\u200c" in label or "\u200d" in label
    assert ElementTree.fromstring(f"<a>{escape(label)}</a>").text == label
    assert 0 < width(label) <= WIDEST


@given(st.integers(1, 12), st.integers(1, 80), st.integers(1, 14))
def test_labels_neither_overlap_nor_leave_the_picture(heads: int, tokens: int, letters: int) -> None:
    names = ["w" * letters] * tokens
    layout = lay_out([Grid("", np.zeros((tokens, tokens)), names, names)] * heads, most=4)
    across = 2 * MARGIN + layout.left + layout.across * tokens * layout.cell + (layout.across - 1) * GAP
    assert across <= WIDTH + 1e-6
    assert layout.left >= width(readable(names[0])) * layout.letters / 72
    assert layout.every * layout.cell * 72 >= 0.95 * layout.letters - 1e-6


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_same_input_same_bytes_whatever_the_users_settings(tmp_path: Path, ending: str) -> None:
    table = np.random.default_rng(0).normal(size=(12, 8))
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    similarity = np.asarray(np.corrcoef(table))
    draw_positions(table, similarity, first, title="t")
    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "path", "axes.grid": True, "savefig.bbox": "tight"}):
        draw_positions(table, similarity, second, title="t")
        assert matplotlib.rcParams["font.size"] == 20
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("mask.jpg", "mask.jpg.svg"),
        ("mask", "mask.svg"),
        ("new/mask.svg", "mkdir"),
        ("old.svg", "picture.svg"),
        (".", "picture.svg"),
    ],
)
def test_a_path_that_cannot_work_is_refused_with_advice(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / "old.svg").mkdir()
    out = tmp_path / name
    for draw in (
        lambda: draw_mask(np.eye(2, dtype=bool), ["a", "b"], out),
        lambda: draw_attention(some_weights(1, 2, 2), ["a", "b"], ["a", "b"], 1, out),
        lambda: draw_positions(np.eye(2), np.eye(2), out, title="t"),
    ):
        with pytest.raises(HeadstartError, match=advice):
            draw()
    assert [path.name for path in tmp_path.rglob("*")] == ["old.svg"]


def test_a_disk_that_fills_leaves_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(figure: Figure, path: Path, **settings: object) -> None:
        path.write_text("<svg")
        raise OSError(28, "No space left on device")

    out = tmp_path / "mask.svg"
    out.write_text("the old picture")
    monkeypatch.setattr(Figure, "savefig", write_half)
    with pytest.raises(HeadstartError, match="No space left"):
        draw_mask(np.eye(2, dtype=bool), ["a", "b"], out)
    assert out.read_text() == "the old picture"
    assert list(tmp_path.iterdir()) == [out]


def test_pictures_need_no_torch() -> None:
    program = "import sys, headstart.report.figures, headstart.report.costs; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

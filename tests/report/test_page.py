"""The report is whole, true to scores.json, alone in its file, and obeys nobody whose text it shows."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from recipes.pretend import HOSTILE, finished_comparison

from headstart.report.page import page, write_page
from headstart.report.visible import visible


@pytest.fixture(scope="module")
def scores() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((finished_comparison() / "cmp" / "scores.json").read_text("utf-8"))
    return found


class Reader(HTMLParser):
    """Tags, what they say, and whether they close in the right order."""

    def __init__(self, markup: str):
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def with_mistakes(scores: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    changed = deepcopy(scores)
    for mistake, text in zip(changed["mistakes"], texts):
        mistake["text"] = mistake["text_b"] = mistake["label"] = mistake["place"] = text
    return changed


def test_the_page_says_what_the_scores_say(scores: dict[str, Any]) -> None:
    shown = Reader(page(scores, Path("cmp")))
    assert not shown.open
    for sentence in (
        scores["verdict"]["sentence"],
        *scores["verdict"]["remarks"],
        scores["label_curve"]["sentence"],
        scores["by_epoch"]["sentence"],
        scores["time"]["sentence"],
        scores["command"],
        f"{scores['bill']['parameters']:,}",
    ):
        assert sentence in shown.text
    for system in scores["systems"]:
        assert f"{system['accuracy']['value']:.3f}" in shown.text
    for part in scores["data"].values():
        assert part["files"][0]["sha256"] in shown.text
    assert shown.tags.count("svg") == 6


def test_the_page_needs_nothing_beside_it(scores: dict[str, Any]) -> None:
    markup = page(scores, Path("cmp"))
    shown = Reader(markup)
    assert not {"script", "link", "img", "iframe", "object"} & set(shown.tags)
    outside = [value for name, value in shown.attributes if name in ("src", "href", "xlink:href") and value]
    assert all(value.startswith("#") for value in outside)
    assert "@import" not in markup
    assert re.findall(r"url\((?!#)", markup) == []
    ids = [value for name, value in shown.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_hostile_texts_are_shown_as_text(scores: dict[str, Any]) -> None:
    hostile, harmless = (with_mistakes(scores, texts) for texts in (HOSTILE, ["x", "y", "z"]))
    changed = deepcopy(hostile)
    changed["labels"] = ["</script><script>alert(1)</script>", "{{ 7*7 }}"]
    changed["command"] = "headstart compare '</pre><script>'"
    shown, plain = Reader(page(changed, Path("<b>cmp"))), Reader(page(harmless, Path("cmp")))
    assert shown.tags == plain.tags
    assert "script" not in shown.tags
    assert not any(name.startswith("on") for name, _ in shown.attributes)
    for text in HOSTILE:
        assert " ".join(visible(text).split()) in shown.text
    assert "{{ 7*7 }}" in shown.text


def test_terminal_escapes_and_turned_directions_are_made_visible(scores: dict[str, Any]) -> None:
    markup = page(with_mistakes(scores, HOSTILE), Path("cmp"))
    assert not set(markup) & set("\x00\x07\x1b\u202e")
    assert "⟨1B⟩[31mrouge" in markup
    assert "⟨202E⟩envers" in markup
    assert "[red]vide[/red]" in markup
    assert visible("ligne 1\nligne 2\tété 👨\u200d👩 العربية") == "ligne 1\nligne 2\tété 👨\u200d👩 العربية"


def test_a_comparison_without_the_extras_is_shown_too(scores: dict[str, Any]) -> None:
    small = deepcopy(scores)
    small |= {"label_curve": None, "mistakes": [], "seeds": [0]}
    small["time"]["pretraining"] = None
    small["leaks"] |= {"test_rows": 0, "sentences": [], "corpus": "corpus.txt"}
    small["by_epoch"]["lead"] = [{"epoch": 1, "value": 0.1, "low": None, "high": None}]
    for system in small["systems"]:
        system["seeds"] = system["seeds"][:1]
    shown = Reader(page(small, Path("cmp")))
    assert "every test text was called rightly" in shown.text
    assert "Nothing stands twice" in shown.text
    assert shown.tags.count("svg") == 5


def test_many_classes_are_listed_instead_of_a_matrix(scores: dict[str, Any]) -> None:
    many = deepcopy(scores)
    many["labels"] = [f"class {i}" for i in range(40)]
    for system in many["systems"]:
        system["confusion"] = [[10 if i == j else 4 * (i == 7 and j == 9) for j in range(40)] for i in range(40)]
    shown = Reader(page(many, Path("cmp")))
    assert "class 7 class 9 28.6 %" in shown.text


def test_the_same_scores_give_the_same_bytes(scores: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(json.dumps(scores), "utf-8")
    for name in ("one.html", "two.html"):
        write_page(tmp_path / "scores.json", tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.html", "scores.json", "two.html"]


def test_the_page_needs_no_torch() -> None:
    program = "import sys, headstart.report.page; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

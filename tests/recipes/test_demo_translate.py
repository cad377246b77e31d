"""The demo of the translator: every stage is told, and the test is of values that were not learnt from."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headstart.cli import app
from headstart.recipes import demo_translate
from headstart.recipes.demos import written_out

pytest.importorskip("num2words")
pytest.importorskip("babel")

FAST = ["model.width=16", "model.depth=1", "model.heads=2", "model.hidden=32", "train.evaluate_every=20"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, count in (("TEST", 20), ("VALID", 5), ("TRAIN", 100), ("SMALL", 30)):
        monkeypatch.setattr(written_out, name, count)
    monkeypatch.setattr(demo_translate, "TEST", 20)
    monkeypatch.setattr(demo_translate, "SHAPE", [*demo_translate.SHAPE, *FAST])


def test_the_whole_story(tmp_path: Path) -> None:
    words = ["demo", "--translate", "--minutes", "0.02", "--out", str(tmp_path / "demo")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    for stage in ("1. Pairs", "2. Check: no value stands in two parts", "3. Bill", "4. Trained", "5. Test, once: 40"):
        assert stage in done.stdout
    again = CliRunner().invoke(app, [*words, "--resume", "--json"])
    found = json.loads(again.stdout)
    wrong = round(40 * (1 - found["exact"]))
    assert len(found["mistakes"]) == min(3, wrong)
    assert found["exact"] == pytest.approx((found["numbers"] + found["dates"]) / 2)
    assert "<svg" in Path(found["picture"]).read_text()

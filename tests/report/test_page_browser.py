"""The report in a real browser: nothing sticks out, on a desk or on a phone, and nobody's text runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from recipes.pretend import finished_comparison

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=2000",
]  # fmt: skip
# The page stands in a frame of the width that is asked for, since a headless window has a least width of its own.
FRAME = """<!doctype html><body><iframe src="report.html" style="width: {width}px; height: 900px; border: 0"></iframe>
<script>
onload = () => {{
  const page = frames[0].document.documentElement;
  document.title = page.scrollWidth + " " + page.clientWidth + " " + page.querySelectorAll("svg").length;
}};
</script>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, which is not installed here")


@pytest.fixture(scope="module")
def folder() -> Path:
    return finished_comparison() / "cmp"


@pytest.mark.parametrize("width", [1280, 390, 340])
def test_nothing_sticks_out(folder: Path, tmp_path: Path, width: int) -> None:
    (folder / f"frame{width}.html").write_text(FRAME.format(width=width), "utf-8")
    allow = ["--allow-file-access-from-files", f"--user-data-dir={tmp_path}", "--dump-dom"]
    command = [str(CHROMIUM), *FLAGS, *allow, (folder / f"frame{width}.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    measured = re.search(r"<title>(\d+) (\d+) (\d+)</title>", done.stdout)
    assert measured, done.stdout[:500]
    wanted, there, pictures = map(int, measured.groups())
    assert there == width
    assert wanted <= there
    assert pictures == 6

"""The README's tree has one line per file, taken from the files themselves; run this file to write it anew."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
START = "<!-- tree: written by `python tests/test_readme.py` from the first line of each module -->"
END = "<!-- end of tree -->"


def tree() -> str:
    package = ROOT / "headstart"
    lines = ["```", "headstart/"]
    for folder in [package, *sorted(path for path in package.rglob("*") if (path / "__init__.py").is_file())]:
        indent = "  " * len(folder.relative_to(package).parts)
        if folder != package:
            lines.append(f"{indent}{folder.name + '/':<24}{sentence(folder / '__init__.py')}")
        for file in sorted(folder.glob("*.py")):
            if file.stem not in ("__init__", "__main__"):
                lines.append(f"{indent}  {file.name:<24}{sentence(file)}")
    presets = ", ".join(path.stem for path in sorted((package / "presets").glob("*.toml")))
    return "\n".join([*lines, f"  {'presets/':<24}{presets}: settings, each with its command and its cost", "```"])


def sentence(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").splitlines()[0]


def test_the_tree_in_the_readme_is_true() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme.split(START)[1].split(END)[0].strip() == tree(), "run: python tests/test_readme.py"


def test_commands_in_the_readme_exist() -> None:
    from typer.main import get_command

    from headstart.cli import app

    known = get_command(app).commands  # type: ignore[attr-defined]
    for name in re.findall(r"^headstart (\w+)", (ROOT / "README.md").read_text("utf-8"), re.M):
        assert name in known, name


if __name__ == "__main__":
    text = (ROOT / "README.md").read_text("utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    (ROOT / "README.md").write_text(f"{before}{START}\n{tree()}\n{END}{after}", "utf-8")

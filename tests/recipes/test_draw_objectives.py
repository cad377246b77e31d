"""The masks of each objective are those that a body obeys."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from model.shapes import model_of, small
from recipes.planted import tokenizer
from torch import nn

from headstart.checkpoint import Card, build, save
from headstart.errors import ConfigError
from headstart.model.body import Body
from headstart.model.models import Task, Translator
from headstart.recipes.drawing import beside as attention_beside
from headstart.recipes.drawing.beside import draw_beside
from headstart.recipes.drawing.objective_masks import Objective, draw_objective
from headstart.recipes.drawing.translator_masks import draw_translator_masks
from headstart.report import figures
from headstart.report.grids import Grid


def obeyed(body: Body, mask: figures.Mask) -> np.ndarray:
    """Which tokens a body's outputs depend on, by gradient, for a row laid out as the picture says."""
    length = len(mask.labels)
    real = torch.tensor([[label != "<pad>" for label in mask.labels]])
    starts = torch.tensor([[label in ("<sos>", "<cls>") for label in mask.labels]])
    caught: list[torch.Tensor] = []

    def catch(module: nn.Module, given: tuple[torch.Tensor, ...], out: torch.Tensor) -> None:
        caught.append(out)

    body.embedding.register_forward_hook(catch)
    x = body(torch.arange(7, 7 + length)[None], real=real, documents=starts.cumsum(1))
    rows = [torch.autograd.grad(x[0, i].square().sum(), caught[-1], retain_graph=True)[0][0] for i in range(length)]
    return (torch.stack(rows).abs().sum(-1) > 0).numpy()


@pytest.mark.parametrize("objective", ["masked", "bert", "all"])
@pytest.mark.parametrize("length", [7, 8, 13])
def test_masks_are_obeyed(objective: Objective, length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[figures.Mask] = []
    monkeypatch.setattr(figures, "draw_masks", lambda masks, out, title: drawn.extend(masks))
    draw_objective(tmp_path / "mask.svg", objective, length=length)
    assert len(drawn) == {"masked": 3, "bert": 2, "all": 3}[objective]
    for mask in drawn:
        torch.manual_seed(0)
        body = Body(small(depth=1), causal=mask.labels[0] == "<sos>").eval()
        real = np.array([label != "<pad>" for label in mask.labels])
        assert len(mask.labels) == length
        np.testing.assert_array_equal(obeyed(body, mask)[real], mask.allowed[real])


@pytest.mark.parametrize("length", [5, 8, 14])
def test_the_masks_of_a_translator_are_obeyed(length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By gradient: which tokens the reader's and the writer's outputs depend on, and which of those read."""
    drawn: list[figures.Mask] = []
    monkeypatch.setattr(figures, "draw_masks", lambda masks, out, title: drawn.extend(masks))
    draw_translator_masks(tmp_path / "mask.svg", length=length)
    reading, writing, between = drawn
    model = model_of("translate", depth=1)
    assert isinstance(model, Translator)
    real = np.array([label != "<pad>" for label in reading.labels])
    np.testing.assert_array_equal(obeyed(model.reader, reading)[real], reading.allowed[real])
    memory = torch.randn(1, length, 12, requires_grad=True)
    given = torch.arange(7, 7 + length)[None]
    x = model.writer(given, memory=memory, memory_real=torch.from_numpy(real)[None])
    some = torch.randn(12)
    looked = [torch.autograd.grad(x[0, i] @ some, memory, retain_graph=True)[0][0] for i in range(length)]
    np.testing.assert_array_equal((torch.stack(looked).abs().sum(-1) > 0).numpy(), between.allowed)
    assert (list(between.labels), list(between.columns)) == (list(writing.labels), list(reading.labels))
    changed = given.clone()
    for place in range(length):
        changed[0, place] += 1
        other = model.writer(changed, memory=memory, memory_real=torch.from_numpy(real)[None])
        differs = ((other - x).abs().sum(-1) > 0)[0].numpy()
        np.testing.assert_array_equal(differs, writing.allowed[:, place])
        changed[0, place] -= 1


def test_the_pictures_are_drawn_and_name_their_tokens(tmp_path: Path) -> None:
    objectives: list[Objective] = ["causal", "masked", "bert", "all"]
    for objective in objectives:
        draw_objective(tmp_path / "mask.svg", objective)
        shown = {element.text for element in ElementTree.parse(tmp_path / "mask.svg").iter()}
        assert ("<mask>" in shown) == (objective != "causal")
    with pytest.raises(ConfigError, match="--length 8"):
        draw_objective(tmp_path / "none.svg", "all", length=6)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    for task, causal in (("lm", True), ("masked", False)):
        kind: Task = "lm" if causal else "masked"
        card = Card(task=kind, shape=small(vocabulary=tokenizer().size), causal=causal)
        save(tmp_path / task / "best", model_of(kind, vocabulary=tokenizer().size), card, tokenizer())
    return [tmp_path / "lm", tmp_path / "masked"]


def test_heads_side_by_side(runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_beside(runs, "the fish swam", tmp_path / "heads.svg")
    shown = {element.text for element in ElementTree.parse(tmp_path / "heads.svg").iter()}
    assert {"causal, head 3", "masked, head 3", "<sos>", "<cls>"} <= shown
    drawn: list[Grid] = []
    monkeypatch.setattr(attention_beside, "draw_weights", lambda grids, out, **rest: drawn.extend(grids))
    draw_beside(runs, "the fish swam", tmp_path / "heads.svg", layer=1, head=2)
    causal, both = drawn
    assert not np.triu(causal.values, 1).any()
    assert (both.values > 0).all()
    draw_beside(runs[:1] * 2, "the fish", tmp_path / "heads.svg", head=1)
    assert [grid.title for grid in drawn[2:]] == ["lm, head 1"] * 2


def test_a_head_that_is_not_there(runs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="heads 1 to 3"):
        draw_beside(runs, "the fish", tmp_path / "heads.svg", head=4)
    assert not (tmp_path / "heads.svg").exists()


def test_a_translator_is_drawn_alone(runs: list[Path], tmp_path: Path) -> None:
    shape = small(vocabulary=tokenizer().size)
    save(tmp_path / "mt" / "best", build("translate", shape), Card(task="translate", shape=shape), tokenizer())
    with pytest.raises(ConfigError, match="without --beside"):
        draw_beside([runs[0], tmp_path / "mt"], "the fish", tmp_path / "heads.svg")

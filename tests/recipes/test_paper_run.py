"""How long the paper's run would take here: counted work over measured speed."""

import pytest
from model.shapes import small

from headstart.model.bill import work
from headstart.recipes import paper_run
from headstart.recipes.paper_run import LENGTH, is_the_papers, probe
from headstart.recipes.settings import read_settings


def test_days_are_counted_work_over_probed_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = small(positions="sinusoidal", context=64)
    monkeypatch.setattr(paper_run, "probe", lambda shape: 2e9)
    found = paper_run.paper_run(shape)
    steps_of_pairs = 100_000 * 25_000  # a token of each side
    assert found.flops == work(shape, "translate", length=LENGTH).training * steps_of_pairs
    assert found.days == pytest.approx(found.flops / 2e9 / 24 / 3600)
    assert (found.their_parameters, found.their_gpu_hours) == (65_000_000, 96)


def test_the_probe_measures_something() -> None:
    assert 1e5 < probe(small(positions="sinusoidal", context=64), seconds=0.0) < 1e16


def test_only_the_papers_shape_is_put_beside_it() -> None:
    assert is_the_papers(read_settings("base").model)
    assert not is_the_papers(read_settings("base", None, ["model.depth=5"]).model)

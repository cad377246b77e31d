"""The exponents of the paper's table 1 come out of the counts, and the mask changes nothing but the time."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from headstart.errors import HeadstartError
from headstart.recipes import costs
from headstart.recipes.costs import Costs, Sizes, measure_costs
from headstart.report.costs import exponent

SMALL = Sizes(
    lengths=(8, 16, 32), widths=(8, 16, 32), kernels=(1, 2, 5), length=12, width=20, texts=(3, 9), seconds=0.0
)


@pytest.fixture(scope="module")
def measured() -> Costs:
    return measure_costs(sizes=SMALL)


def test_counted_exponents_are_whole(measured: Costs) -> None:
    counted = {(curve.layer, curve.grows): curve.counted for curve in measured.curves}
    assert counted == pytest.approx(
        {
            ("self-attention", "n"): 2,
            ("self-attention", "d"): 1,
            ("recurrent", "n"): 1,
            ("recurrent", "d"): 2,
            ("convolution", "n"): 1,
            ("convolution", "d"): 2,
            ("convolution", "k"): 1,
        }
    )


def test_counts_are_those_of_the_formulas(measured: Costs) -> None:
    formulas: dict[str, Callable[..., int]] = {
        "self-attention": lambda n, d, k: 2 * 2 * n * n * d,
        "recurrent": lambda n, d, k: 2 * n * d * d,
        "convolution": lambda n, d, k: 2 * k * n * d * d,
    }
    for curve in measured.curves:
        for size, flops in zip(curve.sizes, curve.flops):
            assert flops == formulas[curve.layer](**curve.fixed, **{curve.grows: size})


def test_one_masked_pass_gives_the_outputs_of_many(measured: Costs) -> None:
    assert [each.tokens for each in measured.passes] == [3, 9]
    assert all(each.difference < 1e-5 for each in measured.passes)
    assert all(each.times_faster > 0 for each in measured.passes)


def test_a_model_that_sees_the_future_is_noticed() -> None:
    model = costs.small_language_model(9)
    model.body.causal = False
    with torch.inference_mode(), costs.one_thread():
        assert costs.measure_passes(model, 9, 0.0).difference > 1e-3


def test_json_holds_every_number(measured: Costs) -> None:
    read = json.loads(json.dumps(measured.to_json()))
    assert len(read["curves"]) == 7
    assert read["curves"][0]["counted_exponent"] == pytest.approx(2)
    assert read["curves"][0]["seconds"] == list(measured.curves[0].seconds)
    assert read["passes"][1]["times_faster"] > 0


def test_measuring_leaves_threads_and_randomness_alone_and_tells_how_far_it_is(tmp_path: Path) -> None:
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    steps: list[int] = []
    measure_costs(steps.append, out=tmp_path / "costs.svg", sizes=SMALL)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert steps == [1] * SMALL.measurements == [1] * 9
    shown = {element.text for element in ElementTree.parse(tmp_path / "costs.svg").iter()}
    assert {"self-attention: n^2.00", "recurrent: d^2.00", "convolution: k^1.00", "one masked pass"} < shown


def test_a_bad_path_is_refused_before_anything_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "measure_curve", lambda *sizes: pytest.fail("measured first"))
    with pytest.raises(HeadstartError, match="mkdir"):
        measure_costs(out=tmp_path / "nowhere" / "costs.svg")


def test_the_fit_finds_a_known_power() -> None:
    assert exponent([1, 2, 4, 8], [3 * size**1.7 for size in (1, 2, 4, 8)]) == pytest.approx(1.7)


def test_one_size_has_no_slope() -> None:
    with pytest.raises(ValueError, match="two sizes"):
        Sizes(kernels=(3,))

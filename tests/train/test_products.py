"""Faster products are as exact as those of before, and half precision is taken only where it pays."""

import pytest
import torch

from headstart.train.device import WIDE, multiplies_bfloat16, resolve_precision
from headstart.train.products import EXACT, quicken_products


def test_products_stay_exact() -> None:
    quicken_products()
    left, right = torch.randn(512, 256), torch.randn(300, 256)
    error = torch.nn.functional.linear(left, right).double() - left.double() @ right.double().T
    assert float(error.abs().max()) < EXACT


@pytest.mark.parametrize("can", [{}, {"avx512_bf16": True}, {"amx_bf16": True}])
def test_a_processor_takes_half_precision_where_it_has_instructions_for_it(
    can: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: can)
    assert multiplies_bfloat16() == bool(can)
    assert resolve_precision("auto", torch.device("cpu"), WIDE) == ("bfloat16" if can else "float32")
    assert resolve_precision("auto", torch.device("cpu"), WIDE - 1) == "float32"
    assert resolve_precision("float32", torch.device("cpu"), WIDE) == "float32"
    assert resolve_precision("auto", torch.device("mps"), WIDE) == "float32"

"""Quick dropout: the share that is asked for, the same mean, other numbers at each draw, nothing in evaluation."""

import pytest
import torch
from torch import nn

from headstart.train.dropout import QuickDropout, quicken


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_a_share_is_left_out_and_the_mean_stays(share: float) -> None:
    torch.manual_seed(0)
    x = torch.ones(1000, 803, requires_grad=True)
    y = QuickDropout(share)(x)
    left_out = (y == 0).float()
    for each in (left_out.mean(), *(left_out.flatten()[i::8].mean() for i in range(8))):
        assert each.item() == pytest.approx(share, abs=0.006)
    assert y.mean().item() == pytest.approx(1.0, abs=0.015)
    assert y.unique().tolist() == pytest.approx([0.0, 1 / (1 - share)])
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()), "what is left out learns nothing"  # type: ignore[arg-type]


def test_neighbours_are_left_out_independently() -> None:
    torch.manual_seed(0)
    out = (QuickDropout(0.5)(torch.ones(400_000)) == 0).float() - 0.5
    for apart in range(1, 9):
        assert abs((out[apart:] * out[:-apart]).mean().item()) < 0.002


def test_a_seed_fixes_it_and_the_next_draw_differs() -> None:
    x, dropout = torch.ones(7, 33), QuickDropout(0.3)
    torch.manual_seed(1)
    first, second = dropout(x), dropout(x)
    torch.manual_seed(1)
    assert torch.equal(dropout(x), first)
    assert not torch.equal(first, second)


def test_evaluation_and_a_share_of_nothing_change_nothing() -> None:
    x = torch.randn(3, 5)
    assert torch.equal(QuickDropout(0.5).eval()(x), x)
    assert torch.equal(QuickDropout(0.0)(x), x)
    assert QuickDropout(0.5)(torch.empty(0, 4)).shape == (0, 4)


def test_views_and_half_precision_are_read_right() -> None:
    x = torch.full((6, 4), 2.0, dtype=torch.bfloat16).T
    y = QuickDropout(0.5)(x)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert set(y.flatten().tolist()) <= {0.0, 4.0}


def test_all_dropouts_of_a_model_are_quickened() -> None:
    model = nn.Sequential(nn.Dropout(0.2), nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.4)), nn.AlphaDropout(0.1))
    quicken(model)
    assert [(type(part), part.p) for part in model.modules() if isinstance(part, nn.Dropout)] == [
        (QuickDropout, 0.2),
        (QuickDropout, 0.4),
    ]

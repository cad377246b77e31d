"""Fine-tuning with hidden tokens: in training some are read as a blank, in evaluation none."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from headstart.errors import ConfigError
from headstart.recipes.settings import read_settings
from headstart.train.objectives import ClassOfText

BLANK = 3


class Witness(nn.Module):
    """Keeps what it was given to read."""

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor | None) -> Tensor:
        self.seen = ids
        return torch.zeros(len(ids), 2)


def read(objective: ClassOfText) -> Tensor:
    ids = torch.arange(5, 5 + 32 * 64).view(32, 64)
    batch = SimpleNamespace(
        ids=ids, lengths=torch.full((32,), 64), segments=None, labels=torch.zeros(32, dtype=torch.long)
    )
    objective(batch)
    return objective.model.seen != ids  # type: ignore[return-value]


def test_a_share_of_the_tokens_is_hidden_and_never_the_first() -> None:
    objective = ClassOfText(Witness(), hide=0.3, blank=BLANK)  # type: ignore[arg-type]
    hidden = read(objective)
    assert not hidden[:, 0].any()
    assert hidden[:, 1:].float().mean().item() == pytest.approx(0.3, abs=0.05)
    assert (objective.model.seen[hidden] == BLANK).all()  # type: ignore[index]
    assert not torch.equal(read(objective), hidden), "others at each step"


def test_evaluation_reads_everything() -> None:
    objective = ClassOfText(Witness(), hide=0.3, blank=BLANK).eval()  # type: ignore[arg-type]
    assert not read(objective).any()


def test_hiding_everything_is_refused() -> None:
    with pytest.raises(ConfigError, match="hide"):
        read_settings(None, None, ["finetune.hide=1.0"])

"""Put the self-tests to a saved model."""

from pathlib import Path

import torch

from headstart.checkpoint import load
from headstart.errors import ConfigError
from headstart.evaluate.selftest import Check, check_model


def check_run(run: Path, device: str = "cpu") -> list[Check]:
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ConfigError(f"--device {device}: not available here; try --device cpu") from None
    return check_model(load(run).model, device)

"""Pretrain on raw text, swap the head, fine-tune on few labels, and be told what the head start was worth.

This is the public door. Names are loaded on first use, so importing headstart never imports torch.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Shape": "model.shape",
    "Body": "model.body",
    "LanguageModel": "model.models",
    "MaskedModel": "model.models",
    "Classifier": "model.models",
    "Translator": "model.models",
    "bill": "model.bill",
    "HeadstartError": "errors",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'headstart' has no attribute {name!r}")
    return getattr(import_module(f"headstart.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

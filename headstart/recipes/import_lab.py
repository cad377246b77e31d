"""Bring in a checkpoint of the source lab: a pickle, read as plain tensors only, turned into a run folder."""

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headstart.checkpoint import Card, build, put, save
from headstart.errors import CheckpointError
from headstart.model.bill import bill, total
from headstart.model.positions import sinusoids
from headstart.model.shape import Shape
from headstart.recipes.running.occupied import clear_run
from headstart.text.tokenizer import Tokenizer

LARGEST = 4 * 1024**3  # bytes, on disk and unpacked
LONGEST_TABLE = 100_000  # positions; the lab has 5,000
LAYER = re.compile(r"transformer_encoder\.layers\.(\d+)\.(.+)")
PARTS = {
    "self_attn.in_proj_weight": "attention.project.weight",
    "self_attn.in_proj_bias": "attention.project.bias",
    "self_attn.out_proj.weight": "attention.output.weight",
    "self_attn.out_proj.bias": "attention.output.bias",
    "linear1.weight": "feed_forward.inner.weight",
    "linear1.bias": "feed_forward.inner.bias",
    "linear2.weight": "feed_forward.outer.weight",
    "linear2.bias": "feed_forward.outer.bias",
    "norm1.weight": "attention_norm.weight",
    "norm1.bias": "attention_norm.bias",
    "norm2.weight": "feed_forward_norm.weight",
    "norm2.bias": "feed_forward_norm.bias",
}


def import_lab(file: Path, shape: Shape, out: Path, tokenizer: Tokenizer | None = None, *, force: bool = False) -> Card:
    """Read `file`, check it against `shape`, and save it as `out/best`.

    A file with an output over the vocabulary becomes a language model, one with fewer outputs a classifier.
    A body without a head becomes a language model with a fresh head, and its card says so.
    """
    if tokenizer is not None and tokenizer.size != shape.vocabulary:
        raise CheckpointError(
            f"the tokenizer has {tokenizer.size:,} ids, but the shape has {shape.vocabulary:,}: "
            f"name the tokenizer that {file} was trained with, or --set model.vocabulary={tokenizer.size}"
        )
    if shape.positions != "sinusoidal" or not shape.scaled_embedding:
        raise CheckpointError("the lab's body has sinusoidal positions and a scaled embedding: the settings differ")
    most = max(total(bill(shape, "lm")), LONGEST_TABLE * shape.width)
    weights = _named(_read(file), most, file)
    table = weights.pop("positions", None)
    if table is not None:
        _check_positions(table, shape, file)
    card, model = _model(weights, shape, file)
    put(weights, model, file)
    if force:
        clear_run(out)
    save(out / "best", model, card, tokenizer)
    return card


def _read(file: Path) -> dict[str, Tensor]:
    """Only tensors come out of the pickle: torch's `weights_only` reader runs no code from the file."""
    if not file.is_file():
        raise CheckpointError(f"{file}: {'is a folder' if file.is_dir() else 'no such file'}; name a .pt file")
    try:
        content: Any = _load(file)
    except CheckpointError:
        raise
    except Exception:  # a damaged file can fail anywhere in the readers of zip, pickle and tensors
        raise CheckpointError(
            f"{file}: refused, it is not a file of plain tensors: damaged, something else, or a pickle that holds code"
        ) from None
    content = content.get("model_state_dict", content) if isinstance(content, dict) else content
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise CheckpointError(f"{file}: no 'model_state_dict' of tensors in it")
    return {str(name): value for name, value in content.items()}


def _load(file: Path) -> Any:
    size = file.stat().st_size
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            size = max(size, sum(entry.file_size for entry in archive.infolist()))
    if size > LARGEST:
        raise CheckpointError(f"{file}: unpacks to {size / 1e9:.1f} GB, more than any lab checkpoint")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.load(file, map_location="cpu", weights_only=True)


def _named(found: dict[str, Tensor], most: int, file: Path) -> dict[str, Tensor]:
    """Under our names, each a plain finite tensor of a size that the shape can hold."""
    weights: dict[str, Tensor] = {}
    for name, value in found.items():
        plain = value.layout == torch.strided and value.device.type == "cpu" and value.is_floating_point()
        if not plain or not 1 <= value.numel() <= most or not value.isfinite().all():
            raise CheckpointError(f"{file}: tensor {name!r} is not a plain table of finite numbers that fits the shape")
        if _rename(name, file) in weights:
            raise CheckpointError(f"{file}: tensor {name!r} stands in it twice, with and without 'base.'")
        weights[_rename(name, file)] = value.float()
    return weights


def _rename(name: str, file: Path) -> str:
    """The lab's name of a tensor -> ours."""
    inner = name.removeprefix("base.")
    layer = LAYER.fullmatch(inner)
    if layer and layer[2] in PARTS:
        return f"body.blocks.{layer[1]}.{PARTS[layer[2]]}"
    known = {
        "encoder.weight": "body.embedding.weight",
        "pos_encoder.pe": "positions",
        "classifier.decoder.weight": "head.weight",
        "classifier.decoder.bias": "head.bias",
    }
    if inner not in known:
        raise CheckpointError(f"{file}: tensor {name!r} is not part of the lab's layout")
    return known[inner]


def _check_positions(table: Tensor, shape: Shape, file: Path) -> None:
    wanted = sinusoids(torch.arange(len(table) if table.dim() else 0), shape.width)
    if table.shape != (len(wanted), 1, shape.width) or not torch.allclose(table[:, 0], wanted, atol=1e-4):
        raise CheckpointError(f"{file}: pos_encoder.pe is not the table of sinusoids that our body computes")


def _model(weights: dict[str, Tensor], shape: Shape, file: Path) -> tuple[Card, nn.Module]:
    if "head.weight" not in weights and "head.bias" in weights:
        raise CheckpointError(f"{file}: the head has a bias but no weight")
    if "head.weight" not in weights:
        from headstart.model.init import initialise

        model = build("lm", shape)
        initialise(model)
        weights |= {n: p.detach() for n, p in model.named_parameters() if n.startswith("head.")}
        return Card(task="lm", shape=shape, parent=f"{file.name} (body only: the head is fresh)"), model
    outputs = len(weights["head.weight"]) if weights["head.weight"].dim() else 0
    if not outputs:
        raise CheckpointError(f"{file}: the head has no outputs")
    if outputs == shape.vocabulary:
        return Card(task="lm", shape=shape, parent=file.name), build("lm", shape)
    labels = tuple(str(i) for i in range(outputs))
    for name in ("weight", "bias"):
        if f"head.{name}" in weights:
            weights[f"head.scores.{name}"] = weights.pop(f"head.{name}")
    return Card(task="classify", shape=shape, labels=labels, parent=file.name), build(
        "classify", shape, classes=outputs
    )

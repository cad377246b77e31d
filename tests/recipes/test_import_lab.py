"""A checkpoint in the lab's layout, made with torch.nn, gives the same logits after it was imported."""

import contextlib
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import small
from torch import Tensor, nn

from headstart.checkpoint import load
from headstart.errors import CheckpointError
from headstart.model.positions import sinusoids
from headstart.recipes.import_lab import import_lab
from headstart.text.subwords import train_tokenizer

SHAPE = small(hidden=12, context=32)


class LabModel(nn.Module):
    """The lab's own: encoder, sinusoids, post-norm stack, decoder."""

    def __init__(self, outputs: int):
        super().__init__()
        self.encoder = nn.Embedding(SHAPE.vocabulary, SHAPE.width)
        layer = nn.TransformerEncoderLayer(SHAPE.width, SHAPE.heads, SHAPE.hidden, dropout=0.0)
        self.transformer_encoder = nn.TransformerEncoder(layer, SHAPE.depth, enable_nested_tensor=False)
        self.decoder = nn.Linear(SHAPE.width, outputs)
        self.pe = sinusoids(torch.arange(5_000), SHAPE.width)[:, None]

    def forward(self, ids: Tensor) -> Tensor:
        x = self.encoder(ids) * SHAPE.width**0.5 + self.pe[: len(ids)]
        hidden = torch.ones(len(ids), len(ids), dtype=torch.bool).triu(1)
        return self.decoder(self.transformer_encoder(x, hidden))

    def lab_layout(self, *, body_only: bool = False) -> dict[str, Tensor]:
        base = "" if body_only else "base."
        state = {f"{base}pos_encoder.pe": self.pe}
        for name, value in self.state_dict().items():
            if not name.startswith("decoder"):
                state[f"{base}{name}"] = value
            elif not body_only:
                state[f"classifier.{name}"] = value
        return state


def lab_file(path: Path, state: dict[str, Any]) -> Path:
    torch.save({"model_state_dict": state}, path)
    return path


@pytest.mark.parametrize("outputs", [SHAPE.vocabulary, 2])
def test_the_logits_are_the_same(tmp_path: Path, outputs: int) -> None:
    torch.manual_seed(0)
    theirs = LabModel(outputs).eval()
    file = lab_file(tmp_path / "lab.pt", theirs.lab_layout())
    card = import_lab(file, SHAPE, tmp_path / "run")
    assert card.task == ("lm" if outputs == SHAPE.vocabulary else "classify")
    ours = load(tmp_path / "run").model
    ids = torch.randint(SHAPE.vocabulary, (3, 9))
    wanted = theirs(ids.T).transpose(0, 1)  # the lab puts positions first
    given_ = ours(ids) if card.task == "lm" else ours(ids, torch.full((3,), 9))
    torch.testing.assert_close(given_, wanted if card.task == "lm" else wanted[:, -1], atol=1e-5, rtol=1e-4)


def test_a_body_alone_gets_a_fresh_head_and_says_so(tmp_path: Path) -> None:
    theirs = LabModel(2)
    file = lab_file(tmp_path / "body.pt", theirs.lab_layout(body_only=True))
    card = import_lab(file, SHAPE, tmp_path / "run")
    assert "the head is fresh" in card.parent
    body = load(tmp_path / "run").model.get_submodule("body")
    assert torch.equal(body.get_parameter("embedding.weight"), theirs.encoder.weight)


def test_a_hostile_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    for name, write in (("zip.pt", torch.save), ("plain.pt", lambda x, f: f.write_bytes(pickle.dumps(x)))):
        write({"model_state_dict": Hostile()}, tmp_path / name)
        with pytest.raises(CheckpointError, match="not a file of plain tensors"):
            import_lab(tmp_path / name, SHAPE, tmp_path / "run")
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "run").exists()


def refused(tmp_path: Path, state: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        import_lab(lab_file(tmp_path / "lab.pt", state), SHAPE, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    state = LabModel(2).lab_layout()
    refused(tmp_path, state | {"base.pos_encoder.pe": torch.randn(5_000, 1, 12)}, "not the table of sinusoids")
    refused(
        tmp_path, state | {"base.extra.weight": torch.zeros(1)}, "'base.extra.weight' is not part of the lab's layout"
    )
    refused(tmp_path, state | {"base.encoder.weight": torch.zeros(49, 12)}, "embedding.weight' is .49, 12.")
    missing = {name: value for name, value in state.items() if "layers.1.norm2.bias" not in name}
    refused(tmp_path, missing, "blocks.1.feed_forward_norm.bias' is missing")
    refused(tmp_path, {"base": "text"}, "not a file of plain tensors|no 'model_state_dict'")
    (tmp_path / "empty.pt").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"empty\.pt"):
        import_lab(tmp_path / "empty.pt", SHAPE, tmp_path / "run")


def test_damaged_or_contradictory_weights_are_refused(tmp_path: Path) -> None:
    state = LabModel(2).lab_layout()
    embedding = state["base.encoder.weight"]
    refused(tmp_path, state | {"encoder.weight": embedding}, "stands in it twice")
    refused(tmp_path, state | {"base.encoder.weight": embedding * float("nan")}, "finite numbers")
    refused(tmp_path, state | {"base.encoder.weight": embedding.to(torch.complex64)}, "finite numbers")
    refused(tmp_path, state | {"base.encoder.weight": embedding.to_sparse()}, "finite numbers|plain tensors")
    refused(tmp_path, state | {"base.encoder.weight": torch.zeros(1).expand(10**7, 10**7)}, "fits the shape")
    refused(tmp_path, state | {"base.pos_encoder.pe": torch.zeros(0, 1, 12)}, "fits the shape")
    refused(tmp_path, state | {"base.pos_encoder.pe": torch.tensor(1.0)}, "not the table of sinusoids")
    refused(tmp_path, state | {"classifier.decoder.weight": torch.tensor(1.0)}, "lab.pt")
    refused(tmp_path, {n: v for n, v in state.items() if n != "classifier.decoder.weight"}, "a bias but no weight")
    for shape in (small(positions="rotary", heads=2), small(scaled_embedding=False)):
        with pytest.raises(CheckpointError, match="settings differ"):
            import_lab(lab_file(tmp_path / "lab.pt", state), shape, tmp_path / "run")


@settings(max_examples=150, deadline=None)
@given(place=st.floats(0, 1), byte=st.integers(0, 255), cut=st.booleans())
def test_a_file_with_a_flipped_byte_never_crashes(place: float, byte: int, cut: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = lab_file(Path(folder) / "lab.pt", LabModel(2).lab_layout())
        content = bytearray(file.read_bytes())
        at = min(int(place * len(content)), len(content) - 1)
        content[at] = byte
        file.write_bytes(content[:at] if cut else content)
        with contextlib.suppress(CheckpointError):
            import_lab(file, SHAPE, Path(folder) / "run")


def test_a_tokenizer_of_another_size_is_refused(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(["the cat sat on the mat"] * 20, 280)
    file = lab_file(tmp_path / "lab.pt", LabModel(2).lab_layout())
    with pytest.raises(CheckpointError, match="ids, but the shape has 50"):
        import_lab(file, SHAPE, tmp_path / "run", tokenizer)

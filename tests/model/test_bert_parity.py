"""With the weights of a Hugging Face BERT, our masked model computes what it computes."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from headstart.checkpoint import Card, build, save
from headstart.model.models import MaskedModel
from headstart.model.shape import Shape
from headstart.recipes.fill import fill
from headstart.text.gaps import Gaps
from headstart.text.subwords import train_tokenizer

transformers = pytest.importorskip("transformers", reason="needs Hugging Face's transformers: pip install transformers")

TOKENIZER = train_tokenizer(["the cat sat on the mat", "a dog and a cat saw the old garden in the rain"] * 20, 330)
SHAPE = Shape(
    vocabulary=TOKENIZER.size, width=48, depth=3, heads=4, hidden=80, context=40, positions="learned", norm="post",
    activation="gelu", scaled_embedding=False, embedding_norm=True, segments=2, norm_epsilon=1e-12, tied=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def theirs() -> Any:
    torch.manual_seed(0)
    settings = transformers.BertConfig(
        vocab_size=SHAPE.vocabulary, hidden_size=SHAPE.width, num_hidden_layers=SHAPE.depth,
        num_attention_heads=SHAPE.heads, intermediate_size=SHAPE.hidden, max_position_embeddings=SHAPE.context,
        type_vocab_size=2, layer_norm_eps=1e-12, pad_token_id=TOKENIZER.pad, initializer_range=0.3,
    )  # fmt: skip
    model = transformers.BertForPreTraining(settings).eval()
    for name, weight in model.named_parameters():
        if name.endswith("bias") or "LayerNorm" in name:
            weight.data.add_(0.1 * torch.randn_like(weight))  # so that each of them shows
    return model


@pytest.fixture(scope="module")
def ours(theirs: Any) -> MaskedModel:
    model = build("bert", SHAPE)
    assert isinstance(model, MaskedModel)
    given = theirs.state_dict()
    for name, parameter in model.named_parameters():
        parameter.data.copy_(copied(name, given))
    return model.eval()


NAMES = {
    "body.embedding.weight": "bert.embeddings.word_embeddings.weight",
    "body.positions.table.weight": "bert.embeddings.position_embeddings.weight",
    "body.segments.weight": "bert.embeddings.token_type_embeddings.weight",
    "body.embedding_norm.": "bert.embeddings.LayerNorm.",
    "body.blocks.": "bert.encoder.layer.",
    ".attention.output.": ".attention.output.dense.",
    ".attention_norm.": ".attention.output.LayerNorm.",
    ".feed_forward.inner.": ".intermediate.dense.",
    ".feed_forward.outer.": ".output.dense.",
    ".feed_forward_norm.": ".output.LayerNorm.",
    "head.dense.": "cls.predictions.transform.dense.",
    "head.norm.": "cls.predictions.transform.LayerNorm.",
    "head.bias": "cls.predictions.bias",
    "next_sentence.pooler.": "bert.pooler.dense.",
    "next_sentence.scores.": "cls.seq_relationship.",
}


def copied(name: str, given: dict[str, Tensor]) -> Tensor:
    """The tensor for our parameter `name`. Theirs has queries, keys and values apart, and yes before no."""
    for our, their in NAMES.items():
        name = name.replace(our, their)
    if ".attention.project." in name:
        return torch.cat([given[name.replace(".project.", f".self.{part}.")] for part in ("query", "key", "value")])
    return given[name].flip(0) if "seq_relationship" in name else given[name]


def some_batch() -> dict[str, Tensor]:
    torch.manual_seed(1)
    lengths, ids = torch.tensor([40, 17, 3]), torch.randint(7, SHAPE.vocabulary, (3, 40))
    real = torch.arange(40) < lengths[:, None]
    segments = (torch.arange(40) >= lengths[:, None] // 2) & real
    return {"ids": ids.where(real, TOKENIZER.pad), "real": real, "segments": segments.long()}


def test_hidden_states_and_scores_agree(theirs: Any, ours: MaskedModel) -> None:
    batch = some_batch()
    with torch.inference_mode():
        x = ours.body(**batch)
        expected = theirs(
            input_ids=batch["ids"], attention_mask=batch["real"].long(), token_type_ids=batch["segments"],
            output_hidden_states=True,
        )  # fmt: skip
        assert ours.next_sentence is not None
        scores, follows = ours.head(x), ours.next_sentence(x[:, 0])
    real = batch["real"]
    torch.testing.assert_close(x[real], expected.hidden_states[-1][real], atol=1e-4, rtol=0)
    assert float(x[real].std()) > 0.3
    torch.testing.assert_close(scores[real], expected.prediction_logits[real], atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(follows, expected.seq_relationship_logits.flip(1), atol=1e-4, rtol=0)


def test_every_weight_of_theirs_has_a_place(theirs: Any, ours: MaskedModel) -> None:
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_fill_gives_their_top_words(theirs: Any, ours: MaskedModel, tmp_path: Path) -> None:
    save(tmp_path / "best", ours, Card(task="bert", shape=SHAPE, causal=False), TOKENIZER)
    texts = ["the <mask> sat on the <mask>", "<mask> and a dog.", "the old garden in the <mask>"]
    for filled in fill(tmp_path, texts, top=8):
        ids = torch.tensor([[TOKENIZER.cls, *Gaps(TOKENIZER).encode(filled.text), TOKENIZER.sep]])
        with torch.inference_mode():
            logits = theirs(input_ids=ids).prediction_logits[ids == TOKENIZER.mask]
        shares = logits.softmax(-1)
        shares[:, [*TOKENIZER.specials, *TOKENIZER.byte_ids]] = 0
        for guesses, row in zip(filled.gaps, shares):
            best = row.topk(8)
            pieces = [TOKENIZER.piece(int(id)) for id in best.indices]
            assert [("" if guess.attached else "▁") + guess.word for guess in guesses] == pieces
            assert [guess.probability for guess in guesses] == pytest.approx(best.values.tolist(), rel=1e-3)

"""With weights copied in, our models equal torch's own, at real positions, forward and backward."""

from typing import Literal

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import small
from torch import Tensor, nn

from headstart.model.attention import Attention
from headstart.model.block import Block
from headstart.model.body import Body
from headstart.model.init import initialise
from headstart.model.masks import real_positions
from headstart.model.models import Translator
from headstart.model.shape import Shape

Kind = Literal["post-relu", "pre-gelu"]
kinds = st.sampled_from(["post-relu", "pre-gelu"])
seeds = st.integers(0, 2**31)


def shape_of(kind: Kind, heads: int, head_width: int, depth: int, hidden: int) -> Shape:
    norm, activation = kind.split("-")
    sizes = {"width": heads * head_width, "heads": heads, "depth": depth, "hidden": hidden}
    return small(norm=norm, activation=activation, **sizes)


# Heads at least 4 wide: a norm over two or three numbers that nearly agree blows float noise up without bound.
shapes = st.builds(shape_of, kinds, st.integers(1, 4), st.integers(4, 9), st.integers(1, 3), st.integers(1, 24))


def copy_attention(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    theirs.in_proj_weight.data.copy_(ours.project.weight)
    theirs.in_proj_bias.data.copy_(ours.project.bias)
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_layer(theirs: nn.Module, ours: Block) -> None:
    copy_attention(theirs.get_submodule("self_attn"), ours.attention)  # type: ignore[arg-type]
    pairs: list[tuple[str, nn.Module]] = [
        ("linear1", ours.feed_forward.inner),
        ("linear2", ours.feed_forward.outer),
        ("norm1", ours.attention_norm),
    ]
    if isinstance(theirs, nn.TransformerDecoderLayer):
        copy_attention(theirs.multihead_attn, ours.reader)
        pairs += [("norm2", ours.reader_norm), ("norm3", ours.feed_forward_norm)]
    else:
        pairs += [("norm2", ours.feed_forward_norm)]
    for name, part in pairs:
        theirs.get_submodule(name).load_state_dict(part.state_dict())


def torch_layer(shape: Shape, kind: type) -> nn.Module:
    return kind(
        shape.width, shape.heads, shape.hidden, dropout=0.0, activation=shape.activation, batch_first=True,
        norm_first=shape.norm == "pre", layer_norm_eps=shape.norm_epsilon,
    )  # fmt: skip


def torch_stack(shape: Shape, ours: Body, kind: type, stack: type) -> nn.Module:
    final = nn.LayerNorm(shape.width) if shape.norm == "pre" else None
    options = {"enable_nested_tensor": False} if stack is nn.TransformerEncoder else {}
    theirs: nn.Module = stack(torch_layer(shape, kind), shape.depth, norm=final, **options)
    copy_layers(theirs, ours)
    return theirs


def copy_layers(theirs: nn.Module, ours: Body) -> None:
    for layer, block in zip(theirs.get_submodule("layers").children(), ours.blocks):
        assert isinstance(block, Block)
        copy_layer(layer, block)


def random_batch(shape: Shape, seed: int, rows: int, positions: int) -> tuple[Tensor, Tensor]:
    """Ids and which of them are real: at least one in each row."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(shape.vocabulary, (rows, positions), generator=generator)
    lengths = torch.randint(1, positions + 1, (rows,), generator=generator)
    return ids, real_positions(lengths, positions)


def square(positions: int) -> Tensor:
    """torch's masks say the opposite of ours: True means hidden."""
    return torch.ones(positions, positions, dtype=torch.bool).triu(1)


@settings(max_examples=60, deadline=None)
@given(shape=shapes, seed=seeds, rows=st.integers(1, 4), positions=st.integers(1, 16), causal=st.booleans())
def test_the_body_equals_torchs_encoder(shape: Shape, seed: int, rows: int, positions: int, causal: bool) -> None:
    torch.manual_seed(seed)
    ours = Body(shape, causal=causal)
    initialise(ours)
    theirs = torch_stack(shape, ours, nn.TransformerEncoderLayer, nn.TransformerEncoder)
    ids, real = random_batch(shape, seed, rows, positions)

    x = ours.embed(ids, torch.arange(positions)).detach()
    wanted = theirs(x, mask=square(positions) if causal else None, src_key_padding_mask=~real)[real]
    given_ = ours(ids, real=real)[real]
    torch.testing.assert_close(given_, wanted, atol=1e-5, rtol=1e-4)

    weights = torch.randn(given_.shape, generator=torch.Generator().manual_seed(seed))
    (given_ * weights).sum().backward()
    (wanted * weights).sum().backward()
    for layer, block in zip(theirs.get_submodule("layers").children(), ours.blocks):
        assert isinstance(block, Block)
        twin = layer.get_submodule("self_attn")
        assert isinstance(twin, nn.MultiheadAttention)
        grads = [
            (block.attention.project.weight.grad, twin.in_proj_weight.grad),
            (block.feed_forward.inner.weight.grad, layer.get_parameter("linear1.weight").grad),
            (block.attention_norm.weight.grad, layer.get_parameter("norm1.weight").grad),
        ]
        for mine, other in grads:
            torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-3)


@settings(max_examples=40, deadline=None)
@given(shape=shapes, seed=seeds, rows=st.integers(1, 3), read=st.integers(1, 12), written=st.integers(1, 12))
def test_the_translator_equals_torchs_transformer(shape: Shape, seed: int, rows: int, read: int, written: int) -> None:
    torch.manual_seed(seed)
    ours = Translator(Body(shape, causal=False), Body(shape, causal=True, reads_memory=True))
    initialise(ours)
    theirs = nn.Transformer(
        shape.width, shape.heads, batch_first=True,
        custom_encoder=torch_stack(shape, ours.reader, nn.TransformerEncoderLayer, nn.TransformerEncoder),
        custom_decoder=torch_stack(shape, ours.writer, nn.TransformerDecoderLayer, nn.TransformerDecoder),
    )  # fmt: skip
    copy_layers(theirs.encoder, ours.reader)  # nn.Transformer draws the weights of its parts anew
    copy_layers(theirs.decoder, ours.writer)
    source, real = random_batch(shape, seed, rows, read)
    target, _ = random_batch(shape, seed + 1, rows, written)

    vectors = theirs(
        ours.reader.embed(source, torch.arange(read)),
        ours.writer.embed(target, torch.arange(written)),
        tgt_mask=square(written),
        src_key_padding_mask=~real,
        memory_key_padding_mask=~real,
    )
    torch.testing.assert_close(ours(source, target, real), ours.head(vectors), atol=1e-5, rtol=1e-4)

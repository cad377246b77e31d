"""Facts about the whole models: who sees what, what padding, packing and the cache may not change."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import model_of, shapes, small
from torch import nn
from torch.nn import functional as F

from headstart.checkpoint import build
from headstart.generate.past import empty_pasts
from headstart.model.attention import Attention, Sight, attend, attention_weights
from headstart.model.body import Body
from headstart.model.init import initialise
from headstart.model.models import Classifier, LanguageModel, MaskedModel, Task, Translator
from headstart.model.shape import Shape

seeds = st.integers(0, 2**31)


@settings(max_examples=40, deadline=None)
@given(shape=shapes(), seed=seeds)
def test_a_position_sees_itself_and_the_past_only(shape: Shape, seed: int) -> None:
    torch.manual_seed(seed)
    model = LanguageModel(Body(shape, causal=True))
    initialise(model)
    ids = torch.randint(50, (2, 8))
    embedded = model.body.embedding(ids).detach().requires_grad_()
    model.body.embedding.register_forward_hook(lambda *_: embedded)
    model(ids)[:, 3].square().sum().backward()
    assert embedded.grad is not None
    touched = embedded.grad.abs().sum(dim=(0, 2)) > 0
    assert touched[:4].all()
    assert not touched[4:].any()


@settings(max_examples=40, deadline=None)
@given(shape=shapes(), seed=seeds, cut=st.integers(1, 7))
def test_the_cache_changes_nothing(shape: Shape, seed: int, cut: int) -> None:
    torch.manual_seed(seed)
    model = LanguageModel(Body(shape, causal=True)).eval()
    initialise(model)
    ids, pasts = torch.randint(50, (2, 8)), empty_pasts(model.body)
    steps = [model(ids[:, :cut], pasts=pasts)] + [model(ids[:, t : t + 1], pasts=pasts) for t in range(cut, 8)]
    torch.testing.assert_close(torch.cat(steps, dim=1), model(ids), atol=1e-5, rtol=1e-4)


@settings(max_examples=20, deadline=None)
@given(shape=shapes(), seed=seeds, causal=st.booleans())
def test_one_position_asked_for_is_that_of_the_whole_pass(shape: Shape, seed: int, causal: bool) -> None:
    torch.manual_seed(seed)
    body, at = Body(shape, causal=causal).eval(), torch.tensor([7, 0, 3])
    initialise(body)
    ids = torch.randint(50, (3, 8))
    torch.testing.assert_close(body(ids, at=at)[:, 0], body(ids)[torch.arange(3), at], atol=1e-5, rtol=1e-4)


def test_the_translators_cache_changes_nothing_and_can_be_reordered() -> None:
    torch.manual_seed(0)
    model = Translator(Body(small(), causal=False), Body(small(), causal=True, reads_memory=True)).eval()
    initialise(model)
    source, target = torch.randint(50, (3, 6)), torch.randint(50, (3, 8))
    rows, memory, pasts = torch.tensor([2, 0, 0]), model.reader(source), empty_pasts(model.writer)
    model.writer(target[:, :5], memory=memory, pasts=pasts)
    for past in pasts:
        past.select(rows)
    given_ = model.head(model.writer(target[rows][:, 5:], memory=memory[rows], pasts=pasts))
    torch.testing.assert_close(given_, model(source, target)[rows][:, 5:], atol=1e-5, rtol=1e-4)


@settings(max_examples=30, deadline=None)
@given(shape=shapes(), seed=seeds)
def test_packed_texts_do_not_see_each_other(shape: Shape, seed: int) -> None:
    torch.manual_seed(seed)
    body = Body(shape, causal=True).eval()
    initialise(body)
    one, two = torch.randint(50, (1, 5)), torch.randint(50, (1, 3))
    packed = body(
        torch.cat([one, two], dim=1),
        documents=torch.tensor([[0] * 5 + [1] * 3]),
        positions=torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2]]),
    )
    torch.testing.assert_close(packed, torch.cat([body(one), body(two)], dim=1), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("causal", "pooling"), [(True, "last"), (False, "first"), (False, "mean"), (True, "mean")])
def test_padding_and_batch_change_no_class_score(causal: bool, pooling: str) -> None:
    torch.manual_seed(0)
    model = Classifier(Body(small(), causal=causal), classes=3, pooling=pooling).eval()  # type: ignore[arg-type]
    initialise(model)
    ids, lengths = torch.randint(2, 50, (3, 9)), torch.tensor([9, 4, 1])
    alone = torch.cat([model(ids[i : i + 1, :n], lengths[i : i + 1]) for i, n in enumerate(lengths.tolist())])
    torch.testing.assert_close(model(ids, lengths), alone, atol=1e-5, rtol=1e-4)


def test_a_causal_classifier_reads_the_last_real_token() -> None:
    model = model_of("classify")
    assert isinstance(model, Classifier)
    ids = torch.randint(50, (1, 7))
    wanted = model.head(model.body(ids)[:, 4])
    torch.testing.assert_close(model(ids, torch.tensor([5])), wanted)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("size", [6, 300])
def test_a_row_that_may_look_at_nothing_is_finite(dropout: float, size: int) -> None:
    attention = Attention(small(attention_dropout=dropout))
    mask = torch.ones(size, size, dtype=torch.bool).tril()
    mask[2] = False
    x = torch.randn(2, size, 12, requires_grad=True)
    y = attention(x, Sight(mask))
    y.square().sum().backward()
    assert y.isfinite().all()
    assert x.grad is not None
    assert x.grad.isfinite().all()
    q = torch.randn(1, 1, size, 4)
    assert attention_weights(q, q, mask)[0, 0, 2].sum() == 0


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["square", "padded", "blind", "free"])
def test_short_texts_attend_as_torch_does(kind: str, precision: torch.dtype) -> None:
    """The scores at once, and torch's kernel, in values and gradients; in bfloat16 up to its rounding."""
    q, k, v = (torch.randn(3, 2, 9, 8, requires_grad=True) for _ in range(3))
    mask = None if kind in ("square", "free") else torch.arange(9) < torch.tensor([9, 4, 2])[:, None, None, None]
    if kind == "blind":
        mask = torch.arange(9) < torch.tensor([9, 0, 2])[:, None, None, None]
    rounded = [x.to(precision) for x in (q, k, v)]
    ours = attend(rounded[0], rounded[1], rounded[2], mask, square=kind == "square", dropout=0.0).float()
    ours.square().sum().backward()
    grown = [x.grad for x in (q, k, v)]
    q.grad = k.grad = v.grad = None
    torchs = F.scaled_dot_product_attention(q, k, v, mask, is_causal=kind == "square")
    torchs.square().sum().backward()
    near = 1e-5 if precision == torch.float32 else 0.06
    torch.testing.assert_close(ours, torchs, atol=near, rtol=near)
    for mine, theirs in zip(grown, (q.grad, k.grad, v.grad)):
        torch.testing.assert_close(mine, theirs, atol=near, rtol=near)


def test_an_empty_padding_row_leaves_a_bidirectional_model_finite() -> None:
    model = model_of("masked")
    real = torch.tensor([[True, True, False], [False, False, False]])
    assert model(torch.ones(2, 3, dtype=torch.long), real=real).isfinite().all()


def test_the_watched_weights_are_those_that_attention_used() -> None:
    attention = Attention(small())
    attention.watched = []
    x = torch.randn(2, 5, 12)
    given_ = attention(x, Sight(None, square=True))
    weights = attention.watched[0]
    value = attention.split(attention.project(x).chunk(3, dim=-1)[2])
    wanted = attention.output((weights @ value).transpose(1, 2).flatten(2))
    torch.testing.assert_close(given_, wanted, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))


@pytest.mark.parametrize("task", ["lm", "masked", "bert", "translate"])
@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "activation": "gelu"}, {"tied": True}, {"width": 96}])
def test_the_first_loss_is_log_v(task: Task, changes: dict[str, object]) -> None:
    torch.manual_seed(0)
    shape = small(**{"vocabulary": 3_000, "width": 48, "hidden": 96, "heads": 4, **changes})
    model = build(task, shape)
    initialise(model)
    ids = torch.randint(3_000, (16, 16))
    logits = model(ids, ids) if task == "translate" else model(ids)
    targets = torch.randint(3_000, (16, 16))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
    assert loss == pytest.approx(math.log(3_000), abs=0.1)


def test_a_classifier_starts_at_log_c() -> None:
    loss = nn.functional.cross_entropy(
        model_of("classify")(torch.randint(50, (64, 8)), torch.full((64,), 8)), torch.randint(2, (64,))
    )
    assert loss.item() == pytest.approx(math.log(2), abs=0.05)


def test_bert_reads_segments_and_answers_for_the_next_sentence() -> None:
    model = model_of("bert", segments=2, embedding_norm=True, scaled_embedding=False, positions="learned")
    assert isinstance(model, MaskedModel)
    ids, segments = torch.randint(50, (2, 6)), torch.tensor([[0, 0, 0, 1, 1, 1]] * 2)
    assert not torch.allclose(model(ids), model(ids, segments=segments))
    assert model.next_sentence is not None
    assert model.next_sentence(model.body(ids)[:, 0]).shape == (2, 2)


def test_one_batch_is_learnt_by_heart() -> None:
    model = model_of("lm").train()
    ids = torch.randint(50, (4, 9))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.5  # the first token of each row stays a guess at most

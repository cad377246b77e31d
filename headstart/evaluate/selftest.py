"""Is this model what it claims to be? Questions put to the user's own weights."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headstart.generate.past import empty_pasts
from headstart.model.attention import Attention, Sight
from headstart.model.body import Body
from headstart.model.masks import real_positions
from headstart.model.models import Classifier, LanguageModel, Translator

TOLERANCE = 1e-4  # of the largest value compared; float32 sums in another order differ by about 1e-6
LENGTH, ROWS, PAD = 12, 3, 1  # shorter where fewer positions were learnt

ONE_POSITION = "only one position was learnt: there is nothing beside it"


@dataclass(frozen=True)
class Check:
    """One question and its answer; `passed` is None where it does not apply."""

    name: str
    passed: bool | None
    detail: str


def check_model(model: nn.Module, device: torch.device | str = "cpu", seed: int = 0) -> list[Check]:
    """Put all questions to a model, in evaluation mode and float32; the model is left as it was."""
    model = deepcopy(model).float().to(device).eval()
    ids = _random_ids(model, seed).to(device)
    with torch.no_grad():
        return [question(model, ids) for question in QUESTIONS]


def no_future_leak(model: nn.Module, ids: Tensor) -> Check:
    """What a causal body says at a position must not change when the tokens after it do."""
    name = "no future leak"
    body, half = _writer(model), _half(ids)
    if not body.causal:
        return Check(name, None, "a bidirectional body is meant to see both sides")
    if not half:
        return Check(name, None, ONE_POSITION)
    changed = ids.clone()
    changed[:, half:] = changed[:, half:].roll(1, dims=0) + 1
    changed %= body.shape.vocabulary
    memory = _memory(model, ids)
    return _same(name, _run(body, ids, memory)[:, :half], _run(body, changed, memory)[:, :half])


def sees_both_sides(model: nn.Module, ids: Tensor) -> Check:
    """What a bidirectional body says at either end must change with the token at the other end."""
    name = "sees both sides"
    body = _reader(model)
    if body.causal:
        return Check(name, None, "a causal body must not see what follows")
    if not _half(ids):
        return Check(name, None, ONE_POSITION)
    moved = []
    for here, there in ((0, -1), (-1, 0)):
        changed = ids.clone()
        changed[:, there] = (changed[:, there] + 1) % body.shape.vocabulary
        moved.append((body(ids) - body(changed))[:, here].abs().max().item())
    if not min(moved) > 0:
        blind = "first" if not moved[0] > 0 else "last"
        return Check(name, False, f"the vector of the {blind} token does not depend on the other end of the text")
    return Check(name, True, f"the first vector moves by {moved[0]:.1e}, the last by {moved[1]:.1e}")


def sees_itself(model: nn.Module, ids: Tensor) -> Check:
    """Each position sees itself: another last token gives another last vector, even without the residual."""
    name = "sees itself and what came before"
    body = _writer(model)
    attention = body.blocks[0].get_submodule("attention")
    assert isinstance(attention, Attention)
    attention.watched = []
    try:
        _run(body, ids, _memory(model, ids))
        weights = attention.watched[0].mean(dim=(0, 1))  # (T, S)
    finally:
        attention.watched = None
    seen = weights.diagonal().min().item(), weights[:, 0].min().item()
    if min(seen) <= 0:
        return Check(name, False, "a position has no weight on itself or on the first token")
    return Check(name, True, f"weight on itself at least {seen[0]:.1e}, on the first token {seen[1]:.1e}")


def padding_changes_nothing(model: nn.Module, ids: Tensor) -> Check:
    """A text gives the same answer with padding after it, whatever stands in the padding."""
    name, half = "padding changes nothing", _half(ids)
    if not half:
        return Check(name, None, ONE_POSITION)
    short = ids[:, :half]
    padded = torch.cat([short, torch.full_like(ids[:, half:], PAD)], dim=1)
    lengths = torch.full((len(ids),), half, device=ids.device)
    alone = _answer(model, short, lengths)
    first = _same(name, alone, _answer(model, padded, lengths))
    return first if not first.passed else _same(name, alone, _answer(model, ids, lengths))


def batch_changes_nothing(model: nn.Module, ids: Tensor) -> Check:
    """A text gives the same answer alone and beside longer ones."""
    length = ids.size(1)
    lengths = torch.tensor([length, max(1, length // 2), max(1, length // 3)], device=ids.device)
    together = ids.where(real_positions(lengths, length), PAD)
    batch = _answer(model, together, lengths)
    alone = [_answer(model, together[i : i + 1, :n], lengths[i : i + 1]) for i, n in enumerate(lengths.tolist())]
    if batch.dim() == 3:
        batch = torch.cat([batch[i, :n] for i, n in enumerate(lengths.tolist())])
        alone = [one[0] for one in alone]
    return _same("batch 1 = batch N", batch, torch.cat(alone))


def cache_changes_nothing(model: nn.Module, ids: Tensor) -> Check:
    """Token by token with remembered keys and values gives what one pass over the text gives."""
    name = "cached = uncached"
    body = _writer(model)
    if not body.causal:
        return Check(name, None, "a bidirectional body does not write token by token")
    memory, pasts, first = _memory(model, ids), empty_pasts(body), max(1, ids.size(1) // 4)
    steps = [body(ids[:, :first], memory=memory, pasts=pasts)]
    steps += [body(ids[:, t : t + 1], memory=memory, pasts=pasts) for t in range(first, ids.size(1))]
    return _same(name, _run(body, ids, memory), torch.cat(steps, dim=1))


def masked_row_is_finite(model: nn.Module, ids: Tensor) -> Check:
    """A position that may look at nothing gives finite numbers and finite gradients."""
    body = _writer(model)
    attention = deepcopy(body.blocks[0].get_submodule("attention"))
    assert isinstance(attention, Attention)
    length = ids.size(1)
    mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    mask[length // 4] = False
    with torch.enable_grad():
        x = body.embedding(ids).detach().requires_grad_()
        y = attention(x, Sight(mask))
        (gradient,) = torch.autograd.grad(y.square().sum(), x)
    finite = bool(y.isfinite().all() and gradient.isfinite().all())
    return Check("a fully masked row is finite", finite, "output and gradient" if finite else "NaN or infinite")


def device_equals_cpu(model: nn.Module, ids: Tensor) -> Check:
    """The same answer on this device as on the CPU."""
    name = "device = CPU"
    if ids.device.type == "cpu":
        return Check(name, None, "this is the CPU")
    lengths = torch.full((len(ids),), ids.size(1))
    here = _answer(model, ids, lengths.to(ids.device))
    return _same(name, here.cpu(), _answer(deepcopy(model).cpu(), ids.cpu(), lengths), tolerance=1e-3)


QUESTIONS: tuple[Callable[[nn.Module, Tensor], Check], ...] = (
    no_future_leak,
    sees_both_sides,
    sees_itself,
    padding_changes_nothing,
    batch_changes_nothing,
    cache_changes_nothing,
    masked_row_is_finite,
    device_equals_cpu,
)


def _answer(model: nn.Module, ids: Tensor, lengths: Tensor) -> Tensor:
    """What a user sees of right-padded texts: class scores (B, C), or scores at the real positions (B, T, V)."""
    if isinstance(model, Classifier):
        return model(ids, lengths)
    real = real_positions(lengths, ids.size(1))
    if isinstance(model, Translator):
        return model(ids, ids[:, :1], real)[:, 0]
    answer = model(ids) if isinstance(model, LanguageModel) else model(ids, real=real)
    return answer[:, : int(lengths.max())]


def _writer(model: nn.Module) -> Body:
    body = model.writer if isinstance(model, Translator) else model.body
    assert isinstance(body, Body)
    return body


def _reader(model: nn.Module) -> Body:
    """The body that takes in a text: a translator's looks both ways."""
    return model.reader if isinstance(model, Translator) else _writer(model)


def _half(ids: Tensor) -> int:
    """So many positions have others after them; 0 where there is one position only."""
    return ids.size(1) // 2


def _memory(model: nn.Module, ids: Tensor) -> Tensor | None:
    return model.reader(ids) if isinstance(model, Translator) else None


def _run(body: Body, ids: Tensor, memory: Tensor | None) -> Tensor:
    return body(ids, memory=memory)


def _random_ids(model: nn.Module, seed: int) -> Tensor:
    generator, shape = torch.Generator().manual_seed(seed), _writer(model).shape
    length = min(LENGTH, shape.context) if shape.positions == "learned" else LENGTH
    known = min(shape.vocabulary, _reader(model).shape.vocabulary)
    return torch.randint(known, (ROWS, length), generator=generator)


def _same(name: str, one: Tensor, other: Tensor, tolerance: float = TOLERANCE) -> Check:
    scale = max(one.abs().max().item(), other.abs().max().item(), 1e-9)
    difference = (one - other).abs().max().item() / scale
    passed = difference <= tolerance  # False for NaN too
    return Check(name, passed, f"largest difference {difference:.1e}" + ("" if passed else f", over {tolerance:.0e}"))

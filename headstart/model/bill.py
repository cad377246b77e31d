"""What a model costs, derived from its shape alone: parameters to the unit, FLOPs, memory."""

from dataclasses import dataclass

from headstart.model.attention import LONG
from headstart.model.models import Task
from headstart.model.shape import Shape

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Line:
    """One part of the bill. `times` is how often the model holds it; a subtotal is not added again."""

    part: str
    formula: str
    parameters: int
    times: int = 1
    subtotal: bool = False


@dataclass(frozen=True)
class Work:
    """Floating-point operations per token at a given length; neither depends on the number of heads."""

    forward: int
    training: int
    output_share: float


@dataclass(frozen=True)
class Memory:
    """Bytes while training in float32, at a given batch and length."""

    weights: int
    gradients: int
    optimiser: int
    activations: int
    logits: int

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimiser + self.activations + self.logits


def bill(shape: Shape, task: Task = "lm", *, classes: int = 2, source_vocabulary: int = 0) -> list[Line]:
    """Every part with its formula. The parts times their number add up to the built model, to the unit."""
    d = shape.width
    bodies = 2 if task == "translate" else 1
    lines = [_embedding(shape), *_extras(shape, bodies)]
    if source_vocabulary:
        lines.insert(1, Line("embedding of the reader", f"{source_vocabulary:,} × {d}", source_vocabulary * d))
    if bodies == 2:
        lines += _layer(shape, "reader ") + _layer(shape, "writer ", reads_memory=True)
    else:
        lines += _layer(shape)
    if shape.norm == "pre":
        lines.append(Line("final norm", f"2 · {d}", 2 * d, times=bodies))
    lines.append(Line("body", "all of the above", total(lines), subtotal=True))
    return lines + _head(shape, task, classes)


def total(lines: list[Line]) -> int:
    return sum(line.parameters * line.times for line in lines if not line.subtotal)


def work(shape: Shape, task: Task = "lm", *, length: int, classes: int = 2) -> Work:
    """A product of (a, b) with (b, c) is 2abc operations; backward is two more such products.

    Attention is counted over all `length` keys, as a processor computes it. A translator's figure is for
    one source token together with one target token. A class is read at one token, so the last layer makes keys
    and values of all and works on that one only.
    """
    d, f, v = shape.width, shape.hidden, shape.vocabulary
    attention = 2 * 4 * d * d + 2 * 2 * length * d
    layer = attention + 2 * 2 * d * f
    body = shape.depth * (2 * layer + attention if task == "translate" else layer)
    output = {"classify": 2 * d * classes // length, "lm": 2 * d * v, "translate": 2 * d * v}
    head = output.get(task, 2 * d * v + 2 * d * d)
    if task == "classify":
        body -= (layer - 2 * 2 * d * d) * (length - 1) // length
    return Work(body + head, 3 * (body + head), head / (body + head))


def memory(shape: Shape, task: Task = "lm", *, rows: int, length: int, classes: int = 2) -> Memory:
    """Adam keeps two numbers per parameter; logits are held once and their gradient once."""
    parameters = total(bill(shape, task, classes=classes))
    kept = shape.depth * _kept_per_token(shape, length) + 2 * shape.width
    if task == "translate":
        kept += shape.depth * (_kept_per_token(shape, length) + 6 * shape.width)
    scores = classes * rows if task == "classify" else shape.vocabulary * rows * length
    return Memory(
        weights=FLOAT * parameters,
        gradients=FLOAT * parameters,
        optimiser=2 * FLOAT * parameters,
        activations=FLOAT * rows * length * kept,
        logits=2 * FLOAT * scores,
    )


def layer_costs(n: int, d: int, k: int) -> dict[str, tuple[str, int]]:
    """What one layer of each kind multiplies over a text of n tokens (Vaswani et al., 2017, table 1)."""
    return {
        "self-attention": ("n² d", n * n * d),
        "recurrent": ("n d²", n * d * d),
        "convolution": ("k n d²", k * n * d * d),
    }


def advice(shape: Shape, task: Task, *, length: int) -> list[str]:
    """What to change, where that is plain."""
    if task in ("classify", "translate"):
        return []
    table, parameters = shape.vocabulary * shape.width, total(bill(shape, task))
    ends = table * (1 if shape.tied or task != "lm" else 2)
    said = []
    if ends > 0.7 * parameters:
        line = f"{ends / parameters:.0%} of the parameters are embedding and output"
        if task == "lm" and not shape.tied:
            line += f"; tying them (--set model.tied=true) saves {table / 1e6:.1f} M"
        said.append(line.replace("%", " %") + ".")
    share = work(shape, task, length=length).output_share
    if share > 0.7:
        said.append(
            f"{share * 100:.0f} % of the work is the output over {shape.vocabulary:,} tokens: "
            "a smaller vocabulary is faster."
        )
    return said


def _embedding(shape: Shape) -> Line:
    v, d = shape.vocabulary, shape.width
    return Line("embedding", f"{v:,} × {d}", v * d)


def _extras(shape: Shape, bodies: int) -> list[Line]:
    """Positions, segments and the norm after them, which each body of a translator has for itself."""
    c, d, s = shape.context, shape.width, shape.segments
    lines = [Line("positions", f"{shape.positions}: none", 0)]
    if shape.positions == "learned":
        lines = [Line("positions", f"{c} × {d}", c * d, times=bodies)]
    if s:
        lines.append(Line("segments", f"{s} × {d}", s * d, times=bodies))
    if shape.embedding_norm:
        lines.append(Line("embedding norm", f"2 · {d}", 2 * d, times=bodies))
    return lines


def _layer(shape: Shape, name: str = "", reads_memory: bool = False) -> list[Line]:
    d, f, n = shape.width, shape.hidden, shape.depth
    attentions, norms = (2, 3) if reads_memory else (1, 2)
    attention = 4 * (d * d + d)
    formula = f"4 ({d}² + {d})" if attentions == 1 else f"2 · 4 ({d}² + {d})"
    feed = f"2 · {d}² + 2 · {d}" if f == d else f"2 · {d} · {f} + {f} + {d}"
    one = attentions * attention + norms * 2 * d + 2 * d * f + f + d
    words = {2: "two", 3: "three"}
    return [
        Line(f"{name}attention, one layer", formula, attentions * attention, times=n),
        Line(f"{name}{words[norms]} layer norms, one layer", f"{norms} · 2 · {d}", norms * 2 * d, times=n),
        Line(f"{name}feed-forward, one layer", feed, 2 * d * f + f + d, times=n),
        Line(f"{name}one layer", "attention + norms + feed-forward", one, subtotal=True),
        Line(f"{name}{n} layers", f"{n} · {one:,}", n * one, subtotal=True),
    ]


def _head(shape: Shape, task: Task, classes: int) -> list[Line]:
    v, d = shape.vocabulary, shape.width
    if task == "classify":
        return [Line("class head", f"{d} · {classes} + {classes}", d * classes + classes)]
    if task in ("masked", "bert"):
        masked = Line("masked head", f"{d}² + {d} + 2 · {d} + {v:,} (tied)", d * d + 3 * d + v)
        following = Line("pooler and next sentence", f"{d}² + {d} + 2 · {d} + 2", d * d + 3 * d + 2)
        return [masked, following] if task == "bert" else [masked]
    own, bias = (0 if shape.tied else v * d), (v if shape.output_bias else 0)
    formula = " + ".join([f"{v:,} · {d}"] * (own > 0) + [f"{v:,}"] * (bias > 0)) or "tied: none"
    return [Line("vocabulary head", formula, own + bias)]


def _kept_per_token(shape: Shape, length: int) -> int:
    """Numbers that one layer keeps for the backward pass, for each token.

    Its input, queries, keys, values, the mixed heads, two sums and a norm; what dropout hid; of the feed-forward what
    the activation needs and what it gives. For short texts on a processor attention keeps its weights, as it does
    three times where it drops some of them; else it keeps none, but turned queries and keys beside the others.
    """
    short = length * length < LONG and not shape.attention_dropout
    kept = 8 + 3 * (shape.positions == "rotary" and not short) + 2 * (shape.dropout > 0)
    inner = shape.hidden * (1 if shape.activation == "relu" else 2)
    weights = 3 * length if shape.attention_dropout > 0 else length if short else 2
    return kept * shape.width + inner + weights * shape.heads

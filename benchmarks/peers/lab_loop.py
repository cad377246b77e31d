"""The source lab's loop: nn.TransformerEncoder, dense cross-entropy over all tokens, Adam, one token a step."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peers import Job
from benchmarks.texts import CONTEXT, Texts

WIDTH, DEPTH, HEADS, HIDDEN, CLASS_ROWS = 200, 4, 2, 200, 16
LONGEST = 2_048


class LabModel(nn.Module):
    """Post-norm layers under a square mask; positions first, then the batch, as nn.TransformerEncoder expects."""

    def __init__(self, vocabulary: int, outputs: int):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(vocabulary, WIDTH), nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
        self.output = nn.Linear(WIDTH, outputs)
        self.waves: Tensor
        self.register_buffer("waves", _waves(), persistent=False)
        for weight in (self.embedding.weight, self.output.weight):
            nn.init.uniform_(weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)

    def vectors(self, ids: Tensor) -> Tensor:
        """(T, B) -> (T, B, D)"""
        x = self.dropout(self.embedding(ids) * math.sqrt(WIDTH) + self.waves[: len(ids)])
        return self.encoder(x, nn.Transformer.generate_square_subsequent_mask(len(ids)))

    def forward(self, ids: Tensor) -> Tensor:
        """(T, B) -> (T, B, outputs)"""
        return self.output(self.vectors(ids))


def language_model(texts: Texts) -> LabModel:
    torch.manual_seed(0)
    return LabModel(texts.tokenizer.size, texts.tokenizer.size)


def loss_of(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    """Mean over the targets of a batch, (B, T) each."""
    return F.cross_entropy(model(ids.t()).flatten(0, 1), targets.t().flatten())


def train_exact(texts: Texts) -> Job:
    model, windows = language_model(texts), texts.windows()
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-4)
    number = 0

    def job(share: float) -> float:
        nonlocal number
        tokens = 0
        for _ in range(max(1, round(share * texts.amounts.steps))):
            batch = windows.batch(0, number % windows.steps(0))
            number += 1
            optimiser.zero_grad()
            loss_of(model, batch.ids, batch.targets).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimiser.step()
            tokens += batch.ids.numel()
        return float(tokens)

    return job


def finetune(texts: Texts) -> Job:
    """Batches in random order, padded on the right and read at the last position, padding or not."""
    torch.manual_seed(0)
    model = LabModel(texts.tokenizer.size, len(texts.labels))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
    rows = _encoded(texts, [row.text for row in texts.train])
    labels = torch.tensor([texts.labels.index(row.label) for row in texts.train])

    def job(share: float) -> float:
        order = torch.randperm(len(rows))[: max(1, round(share * len(rows)))]
        for places in order.split(CLASS_ROWS):
            optimiser.zero_grad()
            scores = model(_padded([rows[place] for place in places.tolist()], texts.tokenizer.pad))[-1]
            F.cross_entropy(scores, labels[places]).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimiser.step()
        return float(len(order))

    return job


def predict(texts: Texts) -> Job:
    model = LabModel(texts.tokenizer.size, len(texts.labels)).eval()

    @torch.no_grad()
    def job(share: float) -> float:
        chosen = [row.text for row in texts.test[: max(1, round(share * len(texts.test)))]]
        found: list[str] = []
        for start in range(0, len(chosen), CLASS_ROWS):
            rows = _encoded(texts, chosen[start : start + CLASS_ROWS])
            best = model(_padded(rows, texts.tokenizer.pad))[-1].argmax(-1)
            found += [texts.labels[place] for place in best.tolist()]
        return float(len(found))

    return job


def write_one(texts: Texts) -> Job:
    return _writing(texts, 1)


def write_many(texts: Texts) -> Job:
    return _writing(texts, 32)


def _writing(texts: Texts, count: int) -> Job:
    """No cache: each token costs a pass over the whole text, and scores at every position of it."""
    model = language_model(texts).eval()
    prompts = texts.prompts(count)
    shortest = min(map(len, prompts))  # the loop knows no padding on the left

    @torch.no_grad()
    def job(share: float) -> float:
        tokens = max(2, round(share * texts.amounts.written))
        ids = torch.tensor([prompt[:shortest] for prompt in prompts]).t()
        for _ in range(tokens):
            ids = torch.cat([ids, model(ids)[-1].argmax(-1)[None]])
        return float(tokens * count)

    return job


def _encoded(texts: Texts, chosen: Sequence[str]) -> list[list[int]]:
    return [[texts.tokenizer.sos, *texts.tokenizer.encode(text)][:CONTEXT] for text in chosen]


def _padded(rows: Sequence[Sequence[int]], pad: int) -> Tensor:
    """-> (T, B)"""
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], padding_value=pad)


def _waves() -> Tensor:
    places = torch.arange(LONGEST)[:, None] * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10_000.0) / WIDTH))
    return torch.stack([places.sin(), places.cos()], dim=-1).flatten(1)[:, None]  # (T, 1, D)

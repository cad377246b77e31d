"""One vector for each text."""

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from headstart.checkpoint import Saved
from headstart.model.models import Classifier, Pooling
from headstart.recipes.predict import BLOCK, lay_out
from headstart.recipes.vectors.source import Use, Vectors, body_of
from headstart.text.records import Row

CHARACTERS = 4_000_000  # most in a block, if it has more than one text


class TextVectors:
    """Texts are framed and cut as they are for a classifier, so that a head would read the same vectors."""

    def __init__(self, saved: Saved, rows: Iterable[Row], pooling: Pooling):
        self.saved, self.rows = saved, rows
        self.reader = Classifier(body_of(saved), classes=1, pooling=pooling)  # its head is not used
        self.texts = self.long = 0

    @torch.inference_mode()
    def blocks(self) -> Iterator[Vectors]:
        card, tokenizer = self.saved.card, self.saved.tokenizer
        device = self.reader.body.embedding.weight.device
        for rows in _blocks(self.rows):
            texts = lay_out(rows, tokenizer, card.causal, card.shape.context, card.keep)
            table = np.empty((len(rows), card.shape.width), np.float32)
            for position in range(texts.steps(0)):
                batch = texts.batch(0, position).to(device)
                pooled = self.reader.pool(batch.ids, batch.lengths, batch.segments)
                table[batch.rows.cpu().numpy()] = pooled.float().cpu().numpy()
            uses = [Use(self.texts + i, row.text, 0, len(row.text)) for i, row in enumerate(rows)]
            self.texts += len(rows)
            self.long += texts.truncated
            yield Vectors(table, uses)


def _blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    block: list[Row] = []
    characters = 0
    for row in rows:
        block.append(row)
        characters += len(row.text) + len(row.text_b)
        if len(block) == BLOCK or characters >= CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block

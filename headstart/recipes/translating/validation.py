"""How well a translator does on pairs that it never learnt from: bits per byte, and BLEU of what it writes."""

import math
from dataclasses import replace

import numpy as np
import torch

from headstart.checkpoint import Card
from headstart.data.buckets import Bucketing
from headstart.data.pairs import Fitting, TranslationPairs
from headstart.errors import DataError
from headstart.evaluate.translation import Measures, bleu_of, sentence_counts
from headstart.generate.beam import GREEDY, Search, search_all
from headstart.generate.choose import never_written
from headstart.model.models import Translator
from headstart.recipes.running.training import Scores
from headstart.recipes.translating.pair_files import Encoded
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import Workers
from headstart.train.objectives import targets_in
from headstart.train.translation import NextWord

EVALUATION = Bucketing(rows=512, budget=16_384)
ANY = 10**9


class Validation:
    """The loss is over all pairs; BLEU over `sentences` of them, evenly spread, for writing takes longer than reading.

    Each worker does its share.
    """

    def __init__(
        self,
        encoded: Encoded,
        tokenizer: Tokenizer,
        card: Card,
        workers: Workers,
        sentences: int,
        measures: Measures,
    ):
        shape, self.measures = card.shape, measures
        longest = shape.context if shape.positions == "learned" else ANY
        fitting = Fitting(longest=longest, largest_ratio=float(ANY))
        try:
            self.pairs = TranslationPairs(
                encoded.sources,
                encoded.targets,
                tokenizer=tokenizer,
                fitting=fitting,
                bucketing=EVALUATION,
                shuffle=False,
            )
        except DataError as problem:
            raise DataError(f"--valid: {problem}") from None
        self.encoded, self.tokenizer, self.workers, self.growth = encoded, tokenizer, workers, card.growth
        rows = self.pairs.rows.tolist()
        self.bytes = sum(len(encoded.pairs[row].target_text.encode("utf-8", "replace")) for row in rows)
        self.written = [rows[place] for place in np.linspace(0, len(rows) - 1, min(sentences, len(rows))).astype(int)]
        self.never = never_written(tokenizer, shape.vocabulary)

    def scores(self, model: Translator, how: Search = GREEDY) -> Scores:
        return {**self.reading(model), "bleu": self.writing(model, replace(how, growth=self.growth))}

    def rehearse(self, model: Translator) -> None:
        """As `scores`, but an untrained model, which never ends, writes about as much as it will when it can."""
        self.reading(model)
        self.writing(model, replace(GREEDY, growth=0.5))

    @torch.no_grad()
    def reading(self, model: Translator) -> Scores:
        """Loss in nats per token, without smoothing, and bits per byte of the targets."""
        objective = NextWord(model).eval()
        total = count = 0.0
        for position in range(self.workers.rank, self.pairs.steps(0), self.workers.world):
            batch = self.pairs.batch(0, position)
            total += objective(batch.to(self.workers.device)).item()
            count += float(targets_in(batch).sum())
        total, count = self.workers.add_up(total), self.workers.add_up(count)
        return {"held_out_loss": total / count, "bits_per_byte": total / max(1, self.bytes) / math.log(2)}

    def writing(self, model: Translator, how: Search) -> float:
        """BLEU of the translations of this worker's share, added up over all."""
        mine = self.written[self.workers.rank :: self.workers.world]
        model.eval()
        eos = self.tokenizer.eos
        sources = [[*self.encoded.sources[row], eos] for row in mine]
        found = search_all(model, sources, how, forbidden=self.never, wanted=1)
        texts = [self.tokenizer.decode(best[0].ids) for best in found]
        references = [self.encoded.pairs[row].target_text for row in mine]
        counts = sentence_counts(texts, references, self.measures).sum(0) if mine else np.zeros(10)
        return bleu_of(np.array([self.workers.add_up(float(number)) for number in counts]))


def worth(scores: Scores, figure: str) -> float:
    """What a model is chosen by, the higher the better: its BLEU or its loss.

    Below 1, BLEU is noise, or 0 for ever where no target has four words: such a model is judged by its loss, which
    puts it below any other.
    """
    return scores["bleu"] if figure == "bleu" and scores["bleu"] >= 1 else -scores["held_out_loss"]

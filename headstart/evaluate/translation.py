"""How good translations are: sacreBLEU and chrF with their signatures, exact matches, intervals, a paired test.

Intervals are percentiles over bootstrap samples of the sentences. The paired test is sacreBLEU's approximate
randomisation: if two systems were equally good, their translations of any sentence could be exchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sacrebleu.metrics.bleu import BLEU, BLEUScore
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from headstart.evaluate.significance import Interval

REPETITIONS = 1_000
EDGES = (1, 6, 11, 16, 21, 31, 51)  # words of the source, where a new group begins


@dataclass(frozen=True, kw_only=True)
class Measures:
    """How sentences are cut into words before they are compared; the signatures say it too."""

    tokenize: str = "13a"
    lowercase: bool = False

    @property
    def bleu(self) -> BLEU:
        return BLEU(tokenize=self.tokenize, lowercase=self.lowercase)

    @property
    def chrf(self) -> CHRF:
        return CHRF(lowercase=self.lowercase)

    def letters(self, text: str) -> str:
        """All that chrF sees of a text."""
        return "".join((text.lower() if self.lowercase else text).split())


@dataclass(frozen=True)
class LengthGroup:
    """Sentences whose source has so many words."""

    words: str
    sentences: int
    bleu: float
    exact: float


@dataclass(frozen=True)
class TranslationScores:
    """BLEU and chrF are out of 100, `exact` is the share of sentences that equal their reference.

    `length` is that of the translations over that of the references, in words: far from 1, BLEU is punished for it.
    """

    sentences: int
    bleu: Interval
    bleu_signature: str
    chrf: float
    chrf_signature: str
    exact: float
    length: float
    by_length: tuple[LengthGroup, ...]


@dataclass(frozen=True)
class Comparison:
    """The second system minus the first on the same sentences, with p for each difference."""

    bleu: Interval
    bleu_p: float
    chrf: float
    chrf_p: float
    signature: str


USUAL = Measures()


def score_translations(
    sources: Sequence[str], written: Sequence[str], references: Sequence[str], measures: Measures = USUAL
) -> TranslationScores:
    assert len(sources) == len(written) == len(references) > 0, "a translation and a reference for each sentence"
    bleu, chrf = measures.bleu, measures.chrf
    whole, characters = bleu.corpus_score(written, [references]), chrf.corpus_score(written, [references])
    counts = sentence_counts(written, references, measures)
    same = exact_matches(written, references)
    return TranslationScores(
        sentences=len(sources),
        bleu=_interval(whole.score, [bleu_of(sums) for sums in _resampled(counts)]),
        bleu_signature=str(bleu.get_signature()),
        chrf=characters.score,
        chrf_signature=str(chrf.get_signature()),
        exact=float(same.mean()),
        length=whole.sys_len / max(1, whole.ref_len),
        by_length=_by_length(sources, counts, same),
    )


def compare_translations(
    first: Sequence[str], second: Sequence[str], references: Sequence[str], measures: Measures = USUAL
) -> Comparison:
    """Is the second system another than the first?"""
    one, other = (sentence_counts(written, references, measures) for written in (first, second))
    value = bleu_of(other.sum(0)) - bleu_of(one.sum(0))
    both = np.concatenate([one, other], axis=1)
    cut = one.shape[1]
    differences = [bleu_of(sums[cut:]) - bleu_of(sums[:cut]) for sums in _resampled(both)]
    test = PairedTest(
        [("first", list(first)), ("second", list(second))],
        {"BLEU": measures.bleu, "chrF": measures.chrf},
        [list(references)],
        test_type="ar",
    )
    signatures, found = test()
    results = {name: [each for each in column if isinstance(each, Result)] for name, column in found.items()}
    words, characters = (results[name] for name in signatures)
    differ = [measures.letters(a) != measures.letters(b) for a, b in zip(first, second)]
    return Comparison(
        bleu=_interval(value, differences),
        bleu_p=_p(int((one != other).any(axis=1).sum()), *words),
        chrf=characters[1].score - characters[0].score,
        chrf_p=_p(sum(differ), *characters),
        signature=str(next(iter(signatures.values()))),
    )


def _p(sentences: int, first: Result, second: Result) -> float:
    """sacreBLEU counts exchanges with a larger difference only: equal scores, or few sentences, would look sure.

    To exchange none of the `sentences` that the measure tells apart, and to exchange all, give as large a difference.
    """
    return 1.0 if first.score == second.score else max(2.0 ** (1 - sentences), float(second.p_value or 0.0))


def sentence_counts(written: Sequence[str], references: Sequence[str], measures: Measures = USUAL) -> np.ndarray:
    """What BLEU adds up: lengths of both, n-grams found and n-grams written, for n from 1 to 4. (N, 10)"""
    bleu = measures.bleu
    found = [bleu.corpus_score([one], [[other]]) for one, other in zip(written, references)]
    return np.array([[each.sys_len, each.ref_len, *each.counts, *each.totals] for each in found], dtype=np.int64)


def bleu_of(sums: np.ndarray) -> float:
    """BLEU of a corpus, from the sums of its sentences' counts. (10,)"""
    written, references, *grams = (int(number) for number in sums)
    score: BLEUScore = BLEU.compute_bleu(grams[:4], grams[4:], written, references, smooth_method="exp")
    return float(score.score)


def exact_matches(written: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """True where a translation equals its reference, spaces at the ends aside. (N,)"""
    return np.array([one.strip() == other.strip() for one, other in zip(written, references)], dtype=bool)


def _by_length(sources: Sequence[str], counts: np.ndarray, same: np.ndarray) -> tuple[LengthGroup, ...]:
    words = np.array([len(source.split()) for source in sources])
    groups = []
    for first, after in zip((0, *EDGES), (*EDGES, np.inf)):
        inside = (words >= first) & (words < after)
        if inside.any():
            name = f"{first} or more" if after == np.inf else f"{first} to {int(after) - 1}" if first else "none"
            groups.append(
                LengthGroup(name, int(inside.sum()), bleu_of(counts[inside].sum(0)), float(same[inside].mean()))
            )
    return tuple(groups)


def _resampled(counts: np.ndarray, seed: int = 0) -> np.ndarray:
    """The sums over as many sentences as there are, drawn with replacement. (REPETITIONS, columns)"""
    draw = partial(np.random.default_rng(seed).multinomial, len(counts), np.full(len(counts), 1 / len(counts)))
    return np.stack([draw() @ counts for _ in range(REPETITIONS)])


def _interval(value: float, draws: Sequence[float]) -> Interval:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(value, float(low), float(high))

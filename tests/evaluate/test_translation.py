"""Translation scores against sacreBLEU's own."""

import random

import numpy as np
import pytest
import sacrebleu

from headstart.evaluate.translation import (
    Measures,
    bleu_of,
    compare_translations,
    score_translations,
    sentence_counts,
)

WORDS = ["the", "cat", "sat", "on", "a", "mat", "while", "two", "old", "dogs", "slept", "in", "the", "warm", "sun"]


def texts(count: int = 60, noise: float = 0.2, seed: int = 0) -> tuple[list[str], list[str]]:
    """References, and translations in which some words are wrong."""
    draw = random.Random(seed)
    references = [" ".join(draw.choices(WORDS, k=draw.randint(1, 30))) for _ in range(count)]
    other = random.Random(seed + noise)
    written = [" ".join(w if other.random() > noise else "x" for w in line.split()) for line in references]
    return references, written


def test_scores_and_signatures_are_sacrebleus() -> None:
    references, written = texts()
    found = score_translations(references, written, references)
    assert found.bleu.value == pytest.approx(sacrebleu.corpus_bleu(written, [references]).score)
    assert found.chrf == pytest.approx(sacrebleu.corpus_chrf(written, [references]).score)
    assert "tok:13a" in found.bleu_signature
    assert f"version:{sacrebleu.__version__}" in found.chrf_signature
    assert found.bleu.low < found.bleu.value < found.bleu.high
    assert found.exact == np.mean([a == b for a, b in zip(references, written)])
    assert sum(group.sentences for group in found.by_length) == 60


@pytest.mark.parametrize("measures", [Measures(), Measures(tokenize="char"), Measures(lowercase=True)])
def test_the_counts_of_sentences_add_up(measures: Measures) -> None:
    references, written = texts()
    written = [line.title() for line in written]
    whole = sacrebleu.corpus_bleu(written, [references], tokenize=measures.tokenize, lowercase=measures.lowercase)
    assert bleu_of(sentence_counts(written, references, measures).sum(0)) == pytest.approx(whole.score)


def test_empty_and_perfect_translations() -> None:
    references, _ = texts(10)
    assert score_translations(references, references, references).bleu.value == pytest.approx(100)
    nothing = score_translations(references, [""] * 10, references)
    assert (nothing.bleu.value, nothing.exact, nothing.length) == (0.0, 0.0, 0.0)


def test_a_plain_difference_is_sure_and_none_is_not() -> None:
    references, good = texts(40, noise=0.1)
    _, bad = texts(40, noise=0.4)
    better = compare_translations(bad, good, references)
    assert better.bleu.sure
    assert better.bleu.value == pytest.approx(
        sacrebleu.corpus_bleu(good, [references]).score - sacrebleu.corpus_bleu(bad, [references]).score
    )
    assert better.bleu_p < 0.01
    assert better.chrf_p < 0.01
    assert "ar:10000" in better.signature
    few = compare_translations(bad[:3], good[:3], references[:3])
    assert (few.bleu_p, few.chrf_p) == (0.25, 0.25), "of the eight exchanges of three sentences two always do"
    shouted = [line.upper() for line in good[:11]] + [bad[11]]
    case = compare_translations(shouted, good[:12], references[:12], Measures(lowercase=True))
    assert (case.bleu_p, case.chrf_p) == (1.0, 1.0), "only one sentence differs, and both its exchanges do"
    none = compare_translations(good, good, references)
    assert (none.bleu.value, none.bleu.sure) == (0.0, False)
    assert (none.bleu_p, none.chrf_p) == (1.0, 1.0)

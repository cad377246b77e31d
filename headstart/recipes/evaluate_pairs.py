"""How good a translator is on pairs that it has not seen, alone or beside another one."""

import time
from dataclasses import dataclass
from pathlib import Path

from headstart.errors import DataError
from headstart.evaluate.translation import (
    Comparison,
    Measures,
    TranslationScores,
    compare_translations,
    score_translations,
)
from headstart.generate.beam import Search
from headstart.recipes.translate import Interpreter, in_blocks, load_interpreter, translate_blocks
from headstart.recipes.translating.pair_files import read_all
from headstart.text.records import Reading


@dataclass(frozen=True)
class TranslatorEvaluation:
    """`other` are the scores of the run it is put beside, `difference` is this run minus that one.

    Each translates as it was asked to, or else with the length penalty chosen on its own validation.
    """

    scores: TranslationScores
    seconds: float
    search: Search
    other: TranslationScores | None = None
    other_search: Search | None = None
    difference: Comparison | None = None
    empty: int = 0  # pairs with an empty side; they count


def evaluate_pairs(
    run: Path,
    spec: str,
    reading: Reading,
    *,
    beam: int = 4,
    penalty: float | None = None,
    measures: Measures,
    against: Path | None = None,
    device: str = "auto",
) -> TranslatorEvaluation:
    pairs = read_all(spec, reading)
    empty = sum(not (pair.source_text.strip() and pair.target_text.strip()) for pair in pairs)
    if empty == len(pairs):
        raise DataError(f"{spec}: each pair has an empty side, so there is nothing to score; is it SOURCE:TARGET?")
    sources, references = [pair.source_text for pair in pairs], [pair.target_text for pair in pairs]
    interpreter = load_interpreter(run, beam=beam, penalty=penalty, device=device)
    rival = load_interpreter(against, beam=beam, penalty=penalty, device=device) if against is not None else None
    started = time.perf_counter()
    written = _translate(interpreter, sources)
    seconds = time.perf_counter() - started
    scores = score_translations(sources, written, references, measures)
    if rival is None:
        return TranslatorEvaluation(scores, seconds, interpreter.how, empty=empty)
    others = _translate(rival, sources)
    return TranslatorEvaluation(
        scores,
        seconds,
        interpreter.how,
        score_translations(sources, others, references, measures),
        rival.how,
        compare_translations(others, written, references, measures),
        empty,
    )


def _translate(interpreter: Interpreter, sources: list[str]) -> list[str]:
    return [found.text for found in translate_blocks(interpreter, in_blocks(sources), "pair")]

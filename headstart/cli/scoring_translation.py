"""What `headstart evaluate` says of a translator."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstart.cli.show import say, say_json, table

if TYPE_CHECKING:
    from headstart.evaluate.translation import TranslationScores
    from headstart.recipes.evaluate_pairs import TranslatorEvaluation
    from headstart.text.records import Reading


def evaluate_translator(
    run: Path,
    file: str,
    *,
    reading: "Reading",
    beam: int,
    penalty: float | None,
    tokenize: str,
    lowercase: bool,
    against: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Translate the pairs' sources and show how good it is."""
    from dataclasses import asdict

    from headstart.evaluate.translation import Measures
    from headstart.recipes.evaluate_pairs import evaluate_pairs

    measures = Measures(tokenize=tokenize, lowercase=lowercase)
    found = evaluate_pairs(
        run, file, reading, beam=beam, penalty=penalty, measures=measures, against=against, device=device
    )
    if as_json:
        say_json(asdict(found))
        return
    _tell_scores(found.scores)
    if found.empty:
        say(f"Note: {found.empty:,} of these pairs have an empty side.")
    speed = found.scores.sentences / max(found.seconds, 1e-9)
    how = found.search
    say(f"Beam {how.beam}, length penalty {how.penalty:g}: {speed:,.0f} sentences a second.")
    if found.difference is not None and found.other is not None:
        _tell_difference(found, against)


def _tell_scores(scores: "TranslationScores") -> None:
    unit = "sentence" if scores.sentences == 1 else "sentences"
    say(
        f"{scores.sentences:,} {unit}: BLEU {scores.bleu.value:.2f} (95 % interval {scores.bleu.low:.2f} to "
        f"{scores.bleu.high:.2f}), chrF {scores.chrf:.2f}, exact match {scores.exact:.2%}, "
        f"length {scores.length:.3f} of the references'."
    )
    rows: list[tuple[Any, ...]] = [
        (group.words, f"{group.sentences:,}", f"{group.bleu:.2f}", f"{group.exact:.2%}") for group in scores.by_length
    ]
    table(["source words", "sentences", "BLEU", "exact"], rows, numbers=[1, 2, 3])
    say(f"BLEU {scores.bleu_signature}\nchrF {scores.chrf_signature}")


def _tell_difference(found: "TranslatorEvaluation", against: Path | None) -> None:
    assert found.difference is not None
    assert found.other is not None
    assert found.other_search is not None
    bleu = found.difference.bleu
    sure = "sure" if bleu.sure and found.difference.bleu_p < 0.05 else "not sure"
    say(
        f"Beside {against}, with length penalty {found.other_search.penalty:g} and BLEU {found.other.bleu.value:.2f}: "
        f"{bleu.value:+.2f} ({bleu.low:+.2f} to {bleu.high:+.2f}), p = {found.difference.bleu_p:.4f}; "
        f"chrF {found.difference.chrf:+.2f}, p = {found.difference.chrf_p:.4f}: {sure}. "
        f"Paired test {found.difference.signature}"
    )

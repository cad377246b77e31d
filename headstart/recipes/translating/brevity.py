"""How long translations are to be: the length penalty that does best on validation travels with the model."""

from dataclasses import dataclass, replace

from headstart.generate.beam import Search
from headstart.recipes.running.training import Scores
from headstart.recipes.translating.scene import Scene
from headstart.recipes.translating.validation import ANY, Validation

SENTENCES = 2_000  # of the validation, at most, are translated with each penalty


@dataclass(frozen=True)
class Ranked:
    """BLEU of each penalty that was tried, on the same `sentences`; none where there was nothing to choose."""

    kept: float
    bleu: dict[float, float]
    sentences: int = 0


def choose_penalty(scene: Scene, scores: Scores, how: Search) -> tuple[Scores, Ranked]:
    """The scores of best/ with the penalty that is then written there; `scores` are those with `how`.

    Of models whose BLEU is noise the one nearest to the usual is kept. A finished run that is resumed chooses again,
    and alike.
    """
    penalties, usual = scene.settings.translator.penalties, how.penalty
    model, card = scene.best()
    whole, some = scene.validation(ANY), scene.validation(SENTENCES)

    def bleu_of(penalty: float, part: Validation) -> float:
        if penalty == usual and part.written == whole.written:
            return scores["bleu"]
        return part.writing(model, replace(how, growth=scene.card.growth, penalty=penalty))

    tried = penalties if len(penalties) > 1 and scores["bleu"] >= 1 else ()
    bleu = {penalty: bleu_of(penalty, some) for penalty in tried}
    kept = max(penalties, key=lambda penalty: (bleu.get(penalty, 0.0), -abs(penalty - usual)))
    known = kept in bleu and some.written == whole.written
    scores = {**scores, "bleu": bleu[kept] if known else bleu_of(kept, whole)}
    others = {name: value for name, value in card.scores.items() if name != "choice"}  # it repeats a score from before
    found = replace(card, penalty=kept, scores={**others, **scores})
    if found != card:
        scene.keep(model, found)
    return scores, Ranked(kept, bleu, len(some.written) if bleu else 0)

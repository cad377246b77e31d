"""How long translations are to be: the length penalty that does best on validation travels with the model."""

from dataclasses import dataclass, replace

from headstart.checkpoint import load, save
from headstart.generate.beam import Search
from headstart.model.models import Translator
from headstart.recipes.running.training import Scores
from headstart.recipes.translating.scene import Scene
from headstart.recipes.translating.validation import ANY

SENTENCES = 2_000  # of the validation, at most, are translated with each penalty


@dataclass(frozen=True)
class Ranked:
    """BLEU of each penalty that was tried, on the same `sentences`; none where a single one was given."""

    kept: float
    bleu: dict[float, float]
    sentences: int = 0


def choose_penalty(scene: Scene, scores: Scores, how: Search) -> tuple[Scores, Ranked]:
    """The scores of best/ with the penalty that is then written there; `scores` are those with `how`.

    Models whose BLEU is noise keep the usual one. A finished run that is resumed chooses again, and alike.
    """
    penalties, usual = scene.settings.translator.penalties, how.penalty
    if len(penalties) > 1 and scores["bleu"] < 1:
        return scores, Ranked(usual, {})
    saved, how = load(scene.out / "best", scene.workers.device), replace(how, growth=scene.card.growth)
    assert isinstance(saved.model, Translator)
    scene.workers.wait()  # until all have read it
    model, whole, some = saved.model, scene.validation(ANY), scene.validation(SENTENCES)
    known = {usual: scores["bleu"]}

    def of_all(penalty: float) -> float:
        if penalty not in known:
            known[penalty] = whole.writing(model, replace(how, penalty=penalty))
        return known[penalty]

    def of_some(penalty: float) -> float:
        alike = some.written == whole.written
        return of_all(penalty) if alike else some.writing(model, replace(how, penalty=penalty))

    bleu = {each: of_some(each) for each in penalties} if len(penalties) > 1 else {}
    kept = max(penalties, key=lambda each: (bleu.get(each, 0.0), -abs(each - usual)))
    scores = {**scores, "bleu": of_all(kept)}
    before = {name: value for name, value in saved.card.scores.items() if name != "choice"}  # of a moment before
    card = replace(saved.card, penalty=kept, scores={**before, **scores})
    if card != saved.card and scene.workers.first:
        tongues = scene.tongues
        save(scene.out / "best", model, card, tongues.target, source_tokenizer=tongues.own_source)
    scene.workers.wait()
    return scores, Ranked(kept, bleu, len(some.written) if bleu else 0)

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
    """BLEU of each penalty that was tried, on the same sentences; none where a single one was given."""

    kept: float
    bleu: dict[float, float]


def choose_penalty(scene: Scene, scores: Scores, how: Search) -> tuple[Scores, Ranked]:
    """The scores of best/ with the penalty that is then written there; `scores` are those with `how`.

    Models whose BLEU is noise keep the usual one. A finished run that is resumed chooses again, and alike.
    """
    penalties, usual = scene.settings.translator.penalties, how.penalty
    if len(penalties) > 1 and scores["bleu"] < 1:
        return scores, Ranked(usual, {})
    saved, how = load(scene.out / "best", scene.workers.device), replace(how, growth=scene.card.growth)
    assert isinstance(saved.model, Translator)
    model, bleu = saved.model, {}
    if len(penalties) > 1:
        some = scene.validation(SENTENCES)
        bleu = {each: some.writing(model, replace(how, penalty=each)) for each in penalties}
    kept = max(penalties, key=lambda each: (bleu.get(each, 0.0), -abs(each - usual)))
    if kept != usual:
        scores = {**scores, "bleu": scene.validation(ANY).writing(model, replace(how, penalty=kept))}
    card = replace(saved.card, penalty=kept, scores={**saved.card.scores, **scores})
    if card != saved.card and scene.workers.first:
        tongues = scene.tongues
        save(scene.out / "best", model, card, tongues.target, source_tokenizer=tongues.own_source)
    scene.workers.wait()
    return scores, Ranked(kept, bleu)

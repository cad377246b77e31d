"""What the training of a translator works on: its model before the first step, its pairs, its validation."""

from dataclasses import dataclass, replace
from pathlib import Path

from headstart.checkpoint import Card, Saved, load, save
from headstart.errors import CheckpointError
from headstart.evaluate.translation import Measures
from headstart.model.init import initialise
from headstart.model.models import Translator
from headstart.recipes.settings import Settings
from headstart.recipes.translating.pair_files import Encoded
from headstart.recipes.translating.two_tongues import Tongues
from headstart.recipes.translating.validation import Validation
from headstart.train.device import Workers
from headstart.train.transfer import Ledger, all_fresh
from headstart.train.warm_start import carry_into_translator
from headstart.whole import MANIFEST, sha256


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Everything but the schedule."""

    out: Path
    model: Translator
    card: Card
    tongues: Tongues
    train: Encoded
    valid: Encoded
    ledger: Ledger
    settings: Settings
    workers: Workers

    def best(self) -> tuple[Translator, Card]:
        """The model that is kept, when all workers have come so far; none may change it before all have read it."""
        self.workers.wait()
        saved = load(self.out / "best", self.workers.device)
        assert isinstance(saved.model, Translator)
        self.workers.wait()
        return saved.model, saved.card

    def keep(self, model: Translator, card: Card) -> None:
        """In place of the model that was kept till now."""
        if self.workers.first:
            save(self.out / "best", model, card, self.tongues.target, source_tokenizer=self.tongues.own_source)
        self.workers.wait()

    def validation(self, sentences: int) -> Validation:
        measures = Measures(tokenize=self.settings.translator.tokenize)
        return Validation(self.valid, self.tongues.target, self.card, self.workers, sentences, measures)


OWN = ("dropout", "embedding_dropout", "attention_dropout", "tied", "output_bias")  # of a shape, beside any body


def is_of_the_body(setting: str) -> bool:
    """Whether SECTION.NAME=VALUE sets what a pretrained body fixes; its vocabulary is that of one side only."""
    section, _, name = setting.partition("=")[0].strip().partition(".")
    return section == "model" and name not in (*OWN, "vocabulary")


def check_body(saved: Saved) -> None:
    """Refuse a run that has no body to carry."""
    if saved.card.task == "translate":
        raise CheckpointError(
            f"{saved.folder}: is a translator itself; --from takes a run of `headstart pretrain` or `finetune`"
        )


def build_model(saved: Saved | None, settings: Settings, tongues: Tongues) -> tuple[Translator, Ledger, Card]:
    """A pretrained body fixes the shape, but for how much is dropped and how the output is made."""
    options, shape = settings.translator, settings.model
    if saved is not None:
        shape = replace(saved.card.shape, **{name: getattr(shape, name) for name in OWN})
    shape = replace(shape, vocabulary=tongues.target.size)
    own = 0 if options.shared and not tongues.own_source else tongues.source.size
    card = Card(task="translate", shape=shape, source_vocabulary=own)
    model = card.build()
    assert isinstance(model, Translator)
    initialise(model)
    if saved is None:
        return model, all_fresh(model), card
    places = ("reader", "writer") if options.carries == "both" else (options.carries,)
    ledger = carry_into_translator(saved, model, places)
    return model, ledger, replace(card, parent=sha256(saved.folder / MANIFEST))

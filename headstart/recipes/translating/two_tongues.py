"""The tokenizers of a translator: one for both languages, or one for each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.checkpoint import SOURCE_TOKENIZER, TOKENIZER, Saved
from headstart.errors import ConfigError
from headstart.recipes.running.own_tokenizer import own_tokenizer
from headstart.recipes.settings import Settings
from headstart.text.records import Pair
from headstart.text.subwords import check_vocabulary
from headstart.text.tokenizer import Tokenizer
from headstart.train.device import Workers


@dataclass(frozen=True)
class Tongues:
    """What a translator reads with, and what it writes with."""

    source: Tokenizer
    target: Tokenizer

    @property
    def own_source(self) -> Tokenizer | None:
        """The reading one, where it is another than the writing one."""
        return self.source if self.source.hash != self.target.hash else None


@dataclass(frozen=True, kw_only=True)
class Given:
    """Tokenizers that a user names; without them they are trained."""

    tokenizer: Path | None = None
    source_tokenizer: Path | None = None


NONE = Given()


def prepare_tongues(
    pairs: Sequence[Pair],
    out: Path,
    settings: Settings,
    saved: Saved | None,
    given: Given,
    workers: Workers,
    say: Callable[[str], None],
) -> Tongues:
    """A pretrained body brings its own for what it becomes; else the named one, or one trained and kept in `out`."""
    joint = settings.translator.joint(warm=saved is not None)
    sides = dict.fromkeys(_brought(settings, saved), saved.tokenizer) if saved is not None else {}
    named = {"target": (given.tokenizer, TOKENIZER), "source": (given.source_tokenizer, SOURCE_TOKENIZER)}
    for place, (path, name) in named.items():
        if place not in sides and not (joint and place == "source"):
            size = settings.model.vocabulary
            texts = _texts(pairs, "both" if joint else place, size, say)  # read only if a tokenizer is trained
            sides[place] = Tokenizer.load(path) if path else own_tokenizer(texts, out / name, size, workers)
    return Tongues(sides.get("source", sides["target"]), sides["target"])


def check_tongues(settings: Settings, saved: Saved | None, given: Given) -> None:
    """Refuse what does not go together, and a file that is none, before anything is written."""
    joint, brought = settings.translator.joint(warm=saved is not None), _brought(settings, saved)
    named = {"target": given.tokenizer, "source": given.source_tokenizer}
    if joint and given.source_tokenizer:
        raise ConfigError("--source-tokenizer needs --set translator.vocabularies=separate")
    if saved is not None and settings.translator.carries == "both" and not joint:
        raise ConfigError("one body in both halves needs one tokenizer: --set translator.vocabularies=joint")
    for place, path in named.items():
        if path is None:
            if place not in brought and not (joint and place == "source"):
                check_vocabulary(settings.model.vocabulary)
        elif place in brought:
            raise ConfigError(f"--from brings its own tokenizer for the {place} side; leave {path} out")
        else:
            Tokenizer.load(path)


def _brought(settings: Settings, saved: Saved | None) -> set[str]:
    """The sides for which a pretrained body has its own tokenizer."""
    if saved is None:
        return set()
    if settings.translator.joint(warm=True):
        return {"source", "target"}
    return {"reader": {"source"}, "writer": {"target"}, "both": {"source", "target"}}[settings.translator.carries]


def _texts(pairs: Sequence[Pair], side: str, size: int, say: Callable[[str], None]) -> Iterator[str]:
    say(f"Training a tokenizer of at most {size:,} pieces on the training pairs.")
    for pair in pairs:
        if side in ("source", "both"):
            yield pair.source_text
        if side in ("target", "both"):
            yield pair.target_text

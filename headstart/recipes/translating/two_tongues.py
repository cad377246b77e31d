"""The tokenizers of a translator: one for both languages, or one for each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.checkpoint import SOURCE_TOKENIZER, TOKENIZER, Saved
from headstart.errors import ConfigError
from headstart.recipes.settings import Settings
from headstart.text.records import Pair
from headstart.text.subwords import train_tokenizer
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
    options = settings.translator
    joint = options.joint(warm=saved is not None)
    if joint and given.source_tokenizer:
        raise ConfigError("--source-tokenizer needs --set translator.vocabularies=separate")
    if saved is not None and (given.tokenizer or given.source_tokenizer) and (joint or options.carries == "both"):
        raise ConfigError("--from brings its own tokenizer; leave --tokenizer out")
    if saved is not None and options.carries == "both" and not joint:
        raise ConfigError("one body in both halves needs one tokenizer: --set translator.vocabularies=joint")
    sides: dict[str, Tokenizer] = {}
    if saved is not None:
        for place in ("source", "target"):
            if joint or options.carries == {"source": "reader", "target": "writer"}[place]:
                sides[place] = saved.tokenizer
    named = {"target": (given.tokenizer, TOKENIZER), "source": (given.source_tokenizer, SOURCE_TOKENIZER)}
    for place, (path, name) in named.items():
        if place not in sides and not (joint and place == "source"):
            texts = _texts(pairs, "both" if joint else place)  # read only if a tokenizer is trained
            sides[place] = Tokenizer.load(path) if path else _trained(texts, out / name, settings, workers, say)
    return Tongues(sides.get("source", sides["target"]), sides["target"])


def _trained(
    texts: Iterator[str], own: Path, settings: Settings, workers: Workers, say: Callable[[str], None]
) -> Tokenizer:
    if workers.first and not own.exists():
        size = settings.model.vocabulary
        say(f"Training a tokenizer of at most {size:,} pieces on the training pairs.")
        train_tokenizer(texts, size).save(own)
    workers.wait()
    return Tokenizer.load(own)


def _texts(pairs: Sequence[Pair], side: str) -> Iterator[str]:
    for pair in pairs:
        if side in ("source", "both"):
            yield pair.source_text
        if side in ("target", "both"):
            yield pair.target_text

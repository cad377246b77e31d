"""The rules of a shoot-out: who competes, on which text, and what is equal for all."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headstart.config import to_table
from headstart.errors import ConfigError
from headstart.recipes.comparing.arms import Table
from headstart.recipes.comparing.plan import Contest
from headstart.recipes.pretraining.ground import check_windows
from headstart.recipes.pretraining.objectives import OBJECTIVES, Name
from headstart.text.reading.corpus import Corpus
from headstart.text.tokenizer import Tokenizer

Equal = Literal["minutes", "flops"]
TERMS: dict[Equal, str] = {"minutes": "at equal minutes", "flops": "at equal FLOPs"}


@dataclass(frozen=True, kw_only=True)
class Rules(Contest):
    """What the user asked for. With equal FLOPs all do as much work as the first objective does in its `minutes`.

    `scratch` adds the same bodies without pretraining, one for each way to look.
    """

    minutes: float
    objectives: tuple[Name, ...] = ("causal", "masked", "bert")
    equal: Equal = "minutes"
    tokenizer: Path | None = None
    scratch: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        named = ",".join(self.objectives)
        if stranger := next((name for name in self.objectives if name not in OBJECTIVES), ""):
            raise ConfigError(f"--objectives {named}: there is no {stranger!r}; choose from {', '.join(OBJECTIVES)}")
        if len(self.objectives) < 2 or len(set(self.objectives)) < len(self.objectives):
            raise ConfigError(
                f"--objectives {named}: a shoot-out needs two or three different ones; for a single one type "
                "headstart pretrain, then headstart compare"
            )
        if not 0 < self.minutes < float("inf"):
            raise ConfigError(f"--minutes {self.minutes:g}: must be above 0, and have an end")
        if "-" in self.corpus:
            raise ConfigError("the corpus is read several times, so it cannot be piped in: write it to a file first")
        for name in self.objectives:
            check_windows(self.settings, OBJECTIVES[name], self.settings.model)

    @property
    def seed(self) -> int:
        """Of the pretrainings."""
        return self.seeds[0]

    def inputs(self, corpus: Corpus) -> Table:
        """All that the pretrained bodies depend on; compared on --resume. An objective may be added later."""
        own = Tokenizer.load(self.tokenizer).with_bidirectional().hash if self.tokenizer else "trained on the corpus"
        found: Table = {name: to_table(getattr(self.settings, name)) for name in ("model", "data", "train")}
        found |= {"corpus": corpus.fingerprint(), "tokenizer": own, "seed": self.seed}
        found |= {"minutes": self.minutes, "equal": self.equal}
        if self.equal == "flops":
            found["first"] = self.objectives[0]
        plain: Table = json.loads(json.dumps(found))
        return plain

"""What fixes a tokenizer's ids: the same source, the same hash."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from headstart.text.pieces.forms import Form
from headstart.text.pieces.specials import BIDIRECTIONAL, FIRST

Kind = Literal["trained", "wrapped", "pair"]
KINDS: tuple[Kind, ...] = ("trained", "wrapped", "pair")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A SentencePiece model, and how its pieces become ids.

    trained   by headstart: its ids are ours, all seven specials first
    wrapped   somebody's model: four specials, then its pieces in its order without its own specials
    pair      a model that cuts with a dictionary that numbers: four specials, then `pieces`
    `bidirectional` adds the other three specials, for the last two kinds at the end.
    """

    kind: Kind
    model: bytes
    pieces: tuple[str, ...] = ()
    normalise: Form = "none"
    bidirectional: bool = False

    @property
    def specials(self) -> tuple[str, ...]:
        return FIRST + BIDIRECTIONAL if self.bidirectional else FIRST

    @property
    def hash(self) -> str:
        parts = [self.kind, self.normalise, *self.specials, *self.pieces]
        texts = [part.encode("utf-8") for part in parts]
        digest = hashlib.sha256(b"headstart tokenizer 1")
        for part in (*texts, self.model):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()

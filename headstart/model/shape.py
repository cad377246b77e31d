"""The numbers that fix a transformer's architecture."""

from dataclasses import dataclass
from typing import Literal

MOST = {"vocabulary": 10**7, "width": 10**5, "depth": 1_000, "heads": 10**5, "hidden": 10**6, "context": 10**6}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Everything needed to rebuild a body before its weights are loaded."""

    vocabulary: int = 16_000
    width: int = 256
    depth: int = 4
    heads: int = 4
    hidden: int = 1024
    context: int = 256
    dropout: float = 0.1
    embedding_dropout: float = 0.1
    attention_dropout: float = 0.0
    positions: Literal["sinusoidal", "learned", "rotary"] = "sinusoidal"
    norm: Literal["post", "pre"] = "post"
    activation: Literal["relu", "gelu"] = "relu"
    scaled_embedding: bool = True
    embedding_norm: bool = False
    segments: int = 0
    norm_epsilon: float = 1e-5
    tied: bool = False
    output_bias: bool = True

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"{name} is {getattr(self, name)}, but it must lie between 1 and {most:,}")
        if not all(0 <= share < 1 for share in (self.dropout, self.embedding_dropout, self.attention_dropout)):
            raise ValueError("dropout, embedding_dropout and attention_dropout must lie in [0, 1)")
        if self.segments < 0 or self.segments == 1:
            raise ValueError(f"segments is {self.segments}, but it must be 0, or 2 and more: one tells no texts apart")
        if not self.norm_epsilon > 0:
            raise ValueError("norm_epsilon must be above 0")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} does not divide into {self.heads} heads")
        if self.positions == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions turn pairs of features, but a head is {self.width // self.heads} wide")

    @property
    def drops(self) -> bool:
        """Whether two passes of a training differ at all."""
        return max(self.dropout, self.embedding_dropout, self.attention_dropout) > 0

"""How a text, or two, is laid into a context of limited length."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from headstart.text.tokenizer import Tokenizer

Keep = Literal["start", "end", "both"]
Ids = Sequence[int] | np.ndarray
NOTHING = -1


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The special tokens around one text or two; NOTHING where there is none."""

    opening: int
    between: int
    closing: int = NOTHING

    @classmethod
    def causal(cls, tokenizer: Tokenizer) -> Self:
        """`<sos> A`, to be read at its last token; `<sos> A <eos> B` for two."""
        return cls(opening=tokenizer.sos, between=tokenizer.eos)

    @classmethod
    def bidirectional(cls, tokenizer: Tokenizer) -> Self:
        """`<cls> A <sep>`, or `<cls> A <sep> B <sep>`."""
        return cls(opening=tokenizer.cls, between=tokenizer.sep, closing=tokenizer.sep)

    def lay(self, a: Ids, b: Ids | None, context: int, keep: Keep) -> "Laid":
        """In at most `context` tokens; of two long texts the longer gives way first."""
        closing = [] if self.closing == NOTHING else [self.closing]
        room = context - 1 - len(closing) - (b is not None)
        assert room > 0, "a context must have room for more than special tokens"
        if b is None:
            ids = np.concatenate([[self.opening], kept(a, room, keep), closing])
            return Laid(ids.astype(np.int32), len(ids), len(a) > room)
        a_room = min(len(a), max(room - room // 2, room - len(b)))
        first = np.concatenate([[self.opening], kept(a, a_room, keep), [self.between]])
        ids = np.concatenate([first, kept(b, room - a_room, keep), closing])
        return Laid(ids.astype(np.int32), len(first), len(a) + len(b) > room)


@dataclass(frozen=True, eq=False)
class Laid:
    """A row of ids; its second text starts at `second`, which is the end where there is one text only."""

    ids: np.ndarray
    second: int
    truncated: bool


def kept(ids: Ids, room: int, keep: Keep) -> np.ndarray:
    """At most `room` tokens: from the start, from the end, or half from each."""
    ids = np.asarray(ids, np.int64)
    if len(ids) <= room:
        return ids
    start = {"start": room, "end": 0, "both": room - room // 2}[keep]
    return np.concatenate([ids[:start], ids[len(ids) - (room - start) :]])

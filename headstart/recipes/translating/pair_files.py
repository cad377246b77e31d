"""Pairs of sentences in a user's files: read, counted, and known again by their hash."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.data.ragged import Ragged
from headstart.text.guard.fingerprints import key, normalise
from headstart.text.readers import read_pairs
from headstart.text.records import Pair, Reading
from headstart.text.tokenizer import Tokenizer

BLOCK = 50_000  # pairs encoded at once


@dataclass(frozen=True)
class Encoded:
    """Pairs as ids, each side by its own tokenizer."""

    pairs: Sequence[Pair]
    sources: Ragged
    targets: Ragged

    @classmethod
    def of(cls, pairs: Sequence[Pair], source: Tokenizer, target: Tokenizer) -> "Encoded":
        blocks = [pairs[start : start + BLOCK] for start in range(0, len(pairs), BLOCK)]
        return cls(
            pairs,
            Ragged(source.encode_batch([_words(pair.source_text) for pair in block]) for block in blocks),
            Ragged(target.encode_batch([_words(pair.target_text) for pair in block]) for block in blocks),
        )


def _words(text: str) -> str:
    """A blank side is an empty one."""
    return text if text.strip() else ""


def read_all(spec: str, reading: Reading) -> list[Pair]:
    return list(read_pairs(spec, reading))


def hash_pairs(pairs: Sequence[Pair]) -> str:
    """SHA-256 over both sides, in order."""
    whole = hashlib.sha256()
    for pair in pairs:
        whole.update(json.dumps([pair.source_text, pair.target_text]).encode())
    return whole.hexdigest()


def repeats(train: Sequence[Pair], valid: Sequence[Pair]) -> list[str]:
    """Sentences about what stands twice: within train, and in train and validation; case and spaces do not count."""
    notes = []
    learnt = {_both(pair) for pair in train}
    if len(learnt) < len(train):
        notes.append(f"{len(train) - len(learnt):,} of {len(train):,} training pairs repeat an earlier one")
    sources = {source for source, _ in learnt}
    known, whole = [_both(pair)[0] in sources for pair in valid], [_both(pair) in learnt for pair in valid]
    if any(known):
        notes.append(
            f"{sum(known):,} of {len(valid):,} validation sources also stand in train, {sum(whole):,} of them with the "
            "same translation: scores on validation will look better than they are"
        )
    return notes


def _both(pair: Pair) -> tuple[int, int]:
    return key(normalise(pair.source_text)), key(normalise(pair.target_text))

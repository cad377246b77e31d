"""Text to ids and back."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from sentencepiece import set_random_generator_seed

from headstart.errors import TokenizerError
from headstart.text.pieces import marks, saved
from headstart.text.pieces.forms import origins, to_form
from headstart.text.pieces.layout import lay_out, open_model
from headstart.text.pieces.source import Source
from headstart.text.pieces.specials import BIDIRECTIONAL, EOS, FIRST, OOV, PAD, SOS
from headstart.text.records import Document

Span = tuple[int, int]


class Tokenizer:
    """Ids 0 to 3 are `<sos> <pad> <eos> <oov>`; no text becomes one of the specials.

    With a tokenizer of ours `decode(encode(text)) == text` for every text, or its NFC or NFKC where one of these
    was asked for. Half a surrogate pair, which is no character, becomes U+FFFD. A wrapped model cuts and joins
    exactly as SentencePiece does with it, so there a typed `▁` is a space.
    """

    sos, pad, eos, oov = SOS, PAD, EOS, OOV

    def __init__(self, source: Source, training: Mapping[str, Any] | None = None, place: str = "tokenizer"):
        self.source, self.training, self.hash = source, dict(training or {}), source.hash
        self._processor = open_model(source.model, place)
        self._layout = lay_out(source, self._processor, place)
        self._trained = source.kind == "trained"

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """A folder of ours, a bare .model file, or a folder with a .model and its dict.txt."""
        found = saved.read(Path(path))
        return cls(found.source, found.training, str(found.place))

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Written whole or not at all. `overwrite` replaces a tokenizer, never anything else."""
        saved.write(self.source, self.training, self.size, Path(folder), overwrite)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer, (self.source, self.training)

    @property
    def size(self) -> int:
        return len(self._layout.pieces)

    @property
    def bidirectional(self) -> bool:
        return self.source.bidirectional

    def with_bidirectional(self) -> "Tokenizer":
        """The same ids, then `<mask> <cls> <sep>`; itself where it has them already."""
        if self.bidirectional:
            return self
        return Tokenizer(replace(self.source, bidirectional=True), self.training)

    @property
    def mask(self) -> int:
        return self._bidirectional(0)

    @property
    def cls(self) -> int:
        return self._bidirectional(1)

    @property
    def sep(self) -> int:
        return self._bidirectional(2)

    @cached_property
    def specials(self) -> frozenset[int]:
        return frozenset({SOS, PAD, EOS, OOV, *((self.mask, self.cls, self.sep) if self.bidirectional else ())})

    @cached_property
    def byte_ids(self) -> list[int]:
        """The ids of single bytes, in which characters without a piece are spelt; may be empty."""
        return [our for their, our in enumerate(self._layout.ours) if self._processor.is_byte(their)]

    def piece(self, id: int) -> str:
        if not 0 <= id < self.size:
            raise TokenizerError(f"id {id} is outside this tokenizer, whose ids are 0 to {self.size - 1}")
        return self._layout.pieces[id]

    def encode(self, text: str) -> list[int]:
        """Ids without specials around them."""
        text = self._readable(text)
        return self._numbered(self._processor.encode(self._hidden(text)), text)

    def encode_batch(self, texts: Sequence[str], threads: int = -1) -> list[list[int]]:
        """As `encode` for each; in threads, -1 for all cores."""
        readable = [self._readable(text) for text in texts]
        cut = self._processor.encode([self._hidden(text) for text in readable], num_threads=threads)
        return [self._numbered(ids, text) for ids, text in zip(cut, readable)]

    def encode_anew(self, texts: Sequence[str], share: float, seed: int) -> list[list[int]]:
        """As `encode_batch`, but merges of pieces are left out with probability `share` (Provilkov et al., 2020).

        SentencePiece obeys a seed at the start of a thread only: so each call has a thread of its own. What a text with
        a typed `▁` becomes does not depend on chance.
        """
        readable = [self._readable(text) for text in texts]
        hidden = [self._hidden(text) for text in readable]
        work = partial(self._processor.encode, hidden, enable_sampling=True, alpha=share, num_threads=1)
        set_random_generator_seed(seed % (2**32 - 1))  # the last one would mean: by chance
        with ThreadPoolExecutor(1) as thread:
            cut = thread.submit(work).result()
        return [
            self.encode(text) if marks.MARK in text else self._numbered(ids, text) for ids, text in zip(cut, readable)
        ]

    def encode_document(self, document: Document) -> list[int]:
        """The pieces of a `.spm` line are looked up where this tokenizer has a dictionary of them."""
        if self.source.kind != "pair" or not document.pieces:
            return self.encode(document.text)
        return [self._layout.numbers.get(piece, OOV) for piece in document.pieces.split(" ") if piece]

    def encode_documents(self, documents: Sequence[Document], threads: int = -1) -> list[list[int]]:
        """As `encode_document` for each; in threads where they have to be cut."""
        if self.source.kind == "pair" and any(document.pieces for document in documents):
            return [self.encode_document(document) for document in documents]
        return self.encode_batch([document.text for document in documents], threads)

    def decode(self, ids: Sequence[int]) -> str:
        """Specials are dropped; bytes that make no character become U+FFFD."""
        pieces = [self.piece(id) for id in ids if id not in self.specials]
        return str(self._processor.decode([self._shown.get(piece, piece) for piece in pieces]))

    def spans(self, text: str) -> list[Span]:
        """For each id of `encode(text)`, the characters of `text` that it stands for.

        In order; with a tokenizer of ours they cover the text. All bytes of a character have its span. The
        space that SentencePiece puts before a text is not in it: a `▁` alone at the start has an empty span.
        """
        readable = self._readable(text)
        found = self._processor.encode(self._hidden(readable), return_type="offset_mapping")
        spans = _widened(found["offsets"], found["pieces"])
        if self.source.normalise == "none":
            return spans
        places = [*origins(text, self.source.normalise), (len(text), len(text))]
        return [(places[start][0], places[max(start, end - 1)][end > start]) for start, end in spans]

    def _bidirectional(self, which: int) -> int:
        if not self.bidirectional:
            raise TokenizerError(
                f"this tokenizer has no {BIDIRECTIONAL[which]}: it was made for causal models; "
                f"train one with 'headstart tokenizer', or ask for with_bidirectional()"
            )
        start = len(FIRST) if self.source.kind == "trained" else self.size - len(BIDIRECTIONAL)
        return start + which

    def _readable(self, text: str) -> str:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = _HALF_A_PAIR.sub("\ufffd", text)
        return to_form(text, self.source.normalise)

    def _hidden(self, text: str) -> str:
        return marks.hide(text) if self._trained else text

    def _numbered(self, ids: list[int], text: str) -> list[int]:
        """The model's ids as ours."""
        if not self._trained:
            return list(map(self._layout.ours.__getitem__, ids))
        return marks.reveal(ids, text, self.byte_ids) if marks.MARK in text else ids

    @cached_property
    def _shown(self) -> dict[str, str]:
        """Pieces of the dictionary that the model lacks, as a reader should see them."""
        if not self.source.pieces:
            return {}
        known = {self._processor.id_to_piece(their) for their in range(len(self._layout.ours))}
        return {p: p.replace(marks.MARK, " ") for p in self.source.pieces if p not in known}


_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def _widened(spans: list[Span], pieces: list[str]) -> list[Span]:
    """SentencePiece gives a character's span to its last byte only; here each byte gets it."""
    spans = list(spans)
    for place in range(len(spans) - 2, -1, -1):
        start, end = spans[place]
        if start == end and pieces[place] != marks.MARK:
            spans[place] = spans[place + 1]
    return spans

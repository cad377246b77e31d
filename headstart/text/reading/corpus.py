"""Raw text in any number of files, read as one stream of documents."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from headstart.errors import DataError
from headstart.text.reading.archives import Advance, ignore
from headstart.text.reading.documents import guess_division, read_documents
from headstart.text.reading.opening import codec
from headstart.text.reading.sources import TABLES, USUAL, Source, find_sources
from headstart.text.records import Document, Reading

_DIVISIONS = {"lines": "a document a line", "blocks": "blocks between blank lines"}


class Corpus:
    """Files, folders and `-`, in the order given. Making one reads nothing but `-`; each pass reads anew."""

    def __init__(self, paths: Sequence[str | Path], reading: Reading = USUAL):
        if not paths:
            raise DataError("a corpus needs at least one file or folder, or - for text that is piped in")
        self.reading = reading
        self.sources: tuple[Source, ...] = find_sources(paths)
        for source in self.sources:
            if source.named and not source.size:
                raise DataError(f"{source.name}: empty, there is no text to read")

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(source.path for source in self.sources)

    @property
    def bytes(self) -> int:
        """Size on disk; the steps that `documents` tells `advance` add up to it."""
        return sum(source.size for source in self.sources)

    def documents(self, advance: Advance = ignore) -> Iterator[Document]:
        """Every text that isn't blank. A named file without any is refused, as is a folder of such files."""
        total = 0
        for source, division in zip(self.sources, self._divisions):
            before = total
            for document in read_documents(source, division, self.reading, advance):
                total += 1
                yield document
            if source.named and total == before:
                raise DataError(f"{source.name}: no text in it: it is empty or holds only blank lines or rows")
        if not total:
            raise DataError(f"{self.sources[0].path.parent}: no text in {_files(len(self.sources))} of this folder")

    def fingerprint(self) -> str:
        """SHA-256 over the contents, in order, and the settings that change what is read from them."""
        whole = hashlib.sha256()
        for source, division in zip(self.sources, self._divisions):
            column = self.reading.text_column if source.form in TABLES else ""
            encoding = codec(self.reading.encoding).name if source.form != ".parquet" else ""
            whole.update(json.dumps([source.form, division, column, encoding]).encode())
            try:
                with source.path.open("rb") as file:
                    whole.update(hashlib.file_digest(file, "sha256").digest())
            except OSError as problem:
                raise DataError(f"{source.name}: {problem.strerror}") from None
        return whole.hexdigest()

    @property
    def guess(self) -> str:
        """How the `.txt` files are cut into documents, as a line to print; "" if there are none."""
        found = [division for division in self._divisions if division]
        kinds = sorted(set(found))
        if len(kinds) > 1:
            said = ", ".join(f"{_DIVISIONS[kind]} in {_files(found.count(kind))}" for kind in kinds)
            return f"{said} (guessed; --documents lines or --documents blocks to change)"
        if not kinds or self.reading.documents != "auto":
            return "".join(_DIVISIONS[kind] for kind in kinds)
        other = "blocks" if kinds == ["lines"] else "lines"
        return f"{_DIVISIONS[kinds[0]]} (guessed; --documents {other} to change)"

    @cached_property
    def _divisions(self) -> tuple[str, ...]:
        """For each file "lines" or "blocks"; "" where the form of the file leaves no choice."""
        return tuple(self._division(source) if source.form == ".txt" else "" for source in self.sources)

    def _division(self, source: Source) -> str:
        wanted = self.reading.documents
        return guess_division(source, self.reading) if wanted == "auto" else wanted


def _files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"

"""A fairseq dictionary: one piece and its count a line, in the order of their ids."""

from collections.abc import Sequence
from pathlib import Path

from headstart.errors import TokenizerError


def parse(content: bytes, path: Path) -> tuple[str, ...]:
    """The pieces in order; `path` is for the messages."""
    lines: dict[str, int] = {}
    for number, line in enumerate(content.rstrip(b"\r\n").split(b"\n"), 1):
        try:
            piece, _, count = line.decode("utf-8").removesuffix(" #fairseq:overwrite").rpartition(" ")
        except UnicodeDecodeError:
            raise TokenizerError(f"{path}, line {number}: not UTF-8") from None
        if not piece or not count.strip().isdigit():
            raise TokenizerError(f"{path}, line {number}: expected a piece and a count, such as '▁le 1'")
        if piece in lines:
            raise TokenizerError(f"{path}, line {number}: '{piece}' stands on line {lines[piece]} already")
        lines[piece] = number
    return tuple(lines)


def compose(pieces: Sequence[str]) -> bytes:
    return "".join(f"{piece} 1\n" for piece in pieces).encode("utf-8")

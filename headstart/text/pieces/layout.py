"""Which of our ids each piece of a SentencePiece model has."""

from dataclasses import dataclass
from typing import Any

from headstart.errors import TokenizerError
from headstart.text.pieces.source import Source
from headstart.text.pieces.specials import BIDIRECTIONAL, FIRST, OOV


@dataclass(frozen=True)
class Layout:
    """`pieces` by our ids; `ours`, our id for each id of the model; `numbers`, our id of each ordinary piece."""

    pieces: list[str]
    ours: list[int]
    numbers: dict[str, int]


def open_model(model: bytes, place: str) -> Any:
    from sentencepiece import SentencePieceProcessor, set_min_log_level

    set_min_log_level(4)
    processor = SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except RuntimeError:
        raise TokenizerError(f"{place}: not a SentencePiece model, or a damaged one") from None
    return processor


def lay_out(source: Source, processor: Any, place: str) -> Layout:
    """Ours where headstart trained the model, otherwise made from the model's pieces or the dictionary's."""
    count = processor.vocab_size()
    try:
        theirs = [processor.id_to_piece(i) for i in range(count)]
    except UnicodeDecodeError:
        raise TokenizerError(f"{place}: a damaged SentencePiece model: a piece is not UTF-8") from None
    ordinary = [not (processor.is_control(i) or processor.is_unknown(i)) for i in range(count)]
    if source.kind == "trained":
        _check_trained(source, theirs, ordinary, place)
        numbers = {piece: id for id, piece in enumerate(theirs) if ordinary[id]}
        return Layout(theirs, list(range(count)), numbers)
    pieces = source.pieces or [piece for piece, kept in zip(theirs, ordinary) if kept]
    numbers = {piece: id for id, piece in enumerate(pieces, len(FIRST))}
    ours = [numbers.get(piece, OOV) if kept else OOV for piece, kept in zip(theirs, ordinary)]
    if 2 * sum(id != OOV for id in ours) < len(pieces):
        raise TokenizerError(f"{place}: dict.txt is of another model, which lacks most of its pieces")
    return Layout([*FIRST, *pieces, *(BIDIRECTIONAL if source.bidirectional else ())], ours, numbers)


def _check_trained(source: Source, pieces: list[str], ordinary: list[bool], place: str) -> None:
    """The specials come first, and no other piece is special."""
    specials = FIRST + BIDIRECTIONAL
    right = source.bidirectional and tuple(pieces[: len(specials)]) == specials
    if not right or any(ordinary[: len(specials)]) or not all(ordinary[len(specials) :]):
        raise TokenizerError(f"{place}: not a model that headstart trained; use the .model file alone")

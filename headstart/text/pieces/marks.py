"""A typed `▁`, the sign with which SentencePiece writes a space, kept apart from spaces.

SentencePiece would turn it into a space. So a stand-in goes through instead, a private character that our own
training never gives a piece: it comes out as three bytes, and they are exchanged for the three bytes of `▁`.
"""

MARK, STAND_IN = "\u2581", "\ue000"


def hide(text: str) -> str:
    return text.replace(MARK, STAND_IN)


def reveal(ids: list[int], text: str, byte_ids: list[int]) -> list[int]:
    """`ids` are those of `hide(text)`; `byte_ids` holds the id of each of the 256 bytes."""
    mark, stand_in = ([byte_ids[byte] for byte in sign.encode("utf-8")] for sign in (MARK, STAND_IN))
    typed = iter([sign == MARK for sign in text if sign in (MARK, STAND_IN)])
    ids = list(ids)
    for place, first in enumerate(ids):
        if first == stand_in[0] and ids[place : place + 3] == stand_in and next(typed):
            ids[place : place + 3] = mark
    return ids

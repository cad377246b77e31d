"""Text that strangers wrote, made fit to stand on an axis."""

import unicodedata

SPACE, LINE_END, TAB = "␣", "↵", "⇥"
PIECE_SPACE = "▁"  # how sentencepiece writes a space
JOINERS = "\u200c\u200d"  # Persian, Hindi and family emoji need them
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
WIDEST = 9.0  # em


def readable(token: str, widest: float = WIDEST) -> str:
    """One line of visible characters, cut to `widest` em; what has no shape is shown by its code point."""
    shown = "".join(map(_stand_in, token)) or "(empty)"
    if unicodedata.combining(shown[0]):
        shown = "◌" + shown
    if width(shown) <= widest:
        return shown
    while shown and width(shown) + 1 > widest:
        shown = shown[:-1]
    return shown + "…"


def width(label: str) -> float:
    """An upper guess, in em, that holds for scripts our own font lacks and the reader's has."""
    return sum(_letter_width(letter) for letter in label)


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.1  # marks pile up on a letter: cheap, but not without end
    return 0.66 if letter not in "mwMW@%…" else 1.0


def _stand_in(letter: str) -> str:
    if letter == "\n":
        return LINE_END
    if letter == "\t":
        return TAB
    category = unicodedata.category(letter)
    if category == "Zs" or letter == PIECE_SPACE:
        return SPACE
    if category in UNSEEN and letter not in JOINERS:
        return f"⟨{ord(letter):X}⟩"
    return letter

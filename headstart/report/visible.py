"""Text that strangers wrote, shown as text in a page."""

import unicodedata

from headstart.report.labels import JOINERS, UNSEEN


def visible(text: str) -> str:
    """What has no shape, such as a terminal escape or a turn of the writing direction, is shown by its code point."""
    return "".join(map(_stand_in, text))


def _stand_in(letter: str) -> str:
    if letter in "\n\t" or letter in JOINERS:
        return letter
    return f"⟨{ord(letter):X}⟩" if unicodedata.category(letter) in UNSEEN else letter

"""The mark with which a file may begin, and the encoding of all that follows it."""

import codecs
import sys

MARK = "\ufeff"
LONGEST_MARK = 5  # bytes


def split_mark(head: bytes, encoding: str) -> tuple[bytes, str]:
    """The mark at the start of `head`, empty if there is none, and an encoding that writes no mark of its own."""
    name = codecs.lookup(encoding).name
    if name in ("utf-16", "utf-32"):
        for order in ("le", "be"):
            mark = MARK.encode(f"{name}-{order}")
            if head.startswith(mark):
                return mark, f"{name}-{order}"
        return b"", f"{name}-{'le' if sys.byteorder == 'little' else 'be'}"
    name = "utf-8" if name == "utf-8-sig" else name
    mark = MARK.encode(name, "ignore")  # empty where an encoding has no mark
    return mark if head.startswith(mark) else b"", name

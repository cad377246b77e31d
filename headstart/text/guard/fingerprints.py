"""When two texts are the same text: one normal form, and eight bytes that stand for it."""

import re
import unicodedata
from hashlib import blake2b

# White space and punctuation, listed so that the vowel signs of Indic and Thai scripts, which are no
# letters for `\w`, stay where they are.
_BETWEEN_WORDS = re.compile(r"[\x00-/:-@\[-`{-\xbf×÷\u2000-\u206f\u3000-\u303f\s]+")


def normalise(text: str) -> str:
    """Case folded, Unicode form NFKC (`ﬁ` is `fi`, a no-break space is a space), white space collapsed.

    Folding the case can undo the form, hence the second NFKC; texts already in form pass through quickly.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def key(normalised: str) -> int:
    """64 bits: among ten million texts the chance of one false alarm is about 3 in a million."""
    return int.from_bytes(blake2b(normalised.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def bare_words(normalised: str) -> str:
    """The words alone, one space apart: what is left when punctuation is not worth a difference."""
    return _BETWEEN_WORDS.sub(" ", normalised).strip()

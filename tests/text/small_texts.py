"""A few thousand words of text that the tests make themselves."""

import random

SYLLABLES = ["ka", "ro", "mi", "tu", "lé", "sa", "no", "vi", "pe", "du", "ga", "xo", "<ma", "sk>", "œ"]
ENDS = [" ", " ", " ", " ", ", ", ". ", "  ", "\n", " <mask> ", " <s> "]


def small_texts(seed: int = 0, count: int = 200) -> list[str]:
    chance = random.Random(seed)

    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) + chance.choice(ENDS)

    return ["".join(word() for _ in range(30)) for _ in range(count)]

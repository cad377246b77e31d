"""Of a task on pairs, a mistake is one pair, and both of its texts are shown."""

import numpy as np

from headstart.recipes.comparing.systems import System, mistakes_of
from headstart.text.records import Row


def test_pairs_with_the_same_first_text_are_two_mistakes() -> None:
    pairs = [("It rains.", "It is wet."), ("It rains.", "It is dry."), ("It rains.", "It is wet.")]
    rows = [Row(text, "test.tsv", line, text_b=text_b) for line, (text, text_b) in enumerate(pairs, 2)]
    shares = np.array([[[0.1, 0.9], [0.3, 0.7], [0.2, 0.8]]])  # one seed, always the second class
    truth = np.zeros(3, int)
    system = System("pretrained", "", "", [], shares, shares.argmax(2) == truth, [])
    found = mistakes_of(system, system, truth, ["no", "yes"], rows, np.zeros(3, bool))
    shown = [(mistake["text"], mistake["text_b"], mistake["place"]) for mistake in found]
    assert shown == [("It rains.", "It is wet.", "test.tsv:2"), ("It rains.", "It is dry.", "test.tsv:3")]

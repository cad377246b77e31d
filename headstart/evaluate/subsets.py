"""Few labels out of many, so that a curve over their number compares like with like."""

from collections.abc import Sequence

import numpy as np


def nested_order(labels: Sequence[str], seed: int) -> list[int]:
    """An order of the rows whose every beginning is a fair subset; a longer one holds the shorter ones.

    The first rows are one of each class; after them the classes keep the shares they have in the whole.
    """
    random = np.random.default_rng(seed)
    names, classes = np.unique(np.asarray(labels), return_inverse=True)
    firsts, others = [], []
    for number in range(len(names)):
        rows = random.permutation(np.flatnonzero(classes == number))
        firsts.append((random.random(), int(rows[0])))
        share = (np.arange(1, len(rows)) + random.random()) / len(rows)  # how far into its class a row stands
        others += list(zip(share.tolist(), rows[1:].tolist()))
    return [row for _, row in sorted(firsts) + sorted(others)]

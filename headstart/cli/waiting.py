"""Threads that wait for each other give their core away soon.

A training on all cores is one thread a core, and each waits for the others at every operation. They wait by spinning;
beside any other program the thread that is waited for then finds no core, and a training becomes many times as slow.
"""

import os

SPINS = "2000"  # turns of a loop, tens of microseconds; the usual 300,000 are longer than a small operation


def wait_politely() -> None:
    """Tell GNU OpenMP, which torch brings on Linux, before it is loaded; what a user has set stays."""
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
        os.environ["GOMP_SPINCOUNT"] = SPINS

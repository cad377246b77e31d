"""Who is measured: each peer offers jobs by name; a job is prepared once, then done again and again.

A job takes the share of its usual amount that it should do, 1 for all, and returns what it did: tokens or texts.
"""

from collections.abc import Callable

Job = Callable[[float], float]

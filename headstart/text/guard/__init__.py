"""The leak guard: what stands twice, within a part or in two of them, and what else is wrong with the data.

    inputs -> parts (fingerprints, nearness) -> twins, conflicts, facts -> findings -> sentences, examples
                                                                        -> cleaning -> copying

Texts are read once and kept as numbers; examples and cleaned files are read again from the disk.
"""

from headstart.text.guard.parts import Part, scan
from headstart.text.guard.twins import Twins, leaked_rows, repeats, twins

__all__ = ["Part", "scan", "Twins", "twins", "repeats", "leaked_rows"]

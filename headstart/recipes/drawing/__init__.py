"""The parts of `draw`."""

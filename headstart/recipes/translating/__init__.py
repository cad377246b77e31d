"""The parts of `translator`."""

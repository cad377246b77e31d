"""The parts of `shootout`."""

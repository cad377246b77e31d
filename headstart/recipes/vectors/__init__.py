"""The parts of `embed`."""

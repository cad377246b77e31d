"""The parts of `compare`, which `shootout` uses too."""

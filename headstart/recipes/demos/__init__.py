"""The data of the two demos."""

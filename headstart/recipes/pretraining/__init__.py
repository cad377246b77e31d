"""The parts of `pretrain`."""

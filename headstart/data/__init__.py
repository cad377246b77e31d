"""Ids to batches; every order is a pure function of seed, epoch and position."""

"""Batches to weights."""

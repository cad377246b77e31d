"""Weights to text."""

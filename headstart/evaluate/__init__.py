"""Predictions to numbers."""

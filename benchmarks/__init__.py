"""Longer measurements, printed as ratios in one run."""

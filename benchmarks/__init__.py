"""Longer measurements, printed as ratios in one run."""

from pathlib import Path

RESULTS = Path(__file__).parent / "results"

"""Numbers as a person would say them."""

import math

from headstart.evaluate.significance import Interval


def points(interval: Interval) -> str:
    """A difference of accuracies: `+5.1 points [3.2, 7.0]`."""
    return f"{signed(interval.value)} points {bracket(interval)}"


def size(interval: Interval) -> str:
    """The same without its direction: `5.1 points [3.2, 7.0]`."""
    value, ends = abs(interval.value), sorted((interval.low, interval.high), key=abs)
    low, high = (abs(end) for end in ends) if interval.sure else (interval.low, interval.high)
    return f"{100 * value:.1f} points {bracket(Interval(value, low, high))}"


def bracket(interval: Interval) -> str:
    """The ends in points; nothing where one seed leaves them open."""
    if not math.isfinite(interval.low + interval.high):
        return "[one seed]"
    return f"[{_minus(100 * interval.low)}, {_minus(100 * interval.high)}]"


def signed(difference: float) -> str:
    return f"{100 * difference:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def duration(seconds: float) -> str:
    if seconds < 0.95:
        return f"{seconds:.1f} s" if seconds >= 0.05 else "0 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def probability(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def rounded(labels: float) -> str:
    """A number of labels with two digits that count: 1,234 becomes 1,200."""
    if labels < 10:
        return f"{labels:.0f}"
    unit = 10 ** (math.floor(math.log10(labels)) - 1)
    return f"{round(labels / unit) * unit:,}"


def listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _minus(value: float) -> str:
    return f"{value:.1f}".replace("-0.0", "0.0").replace("-", "−")

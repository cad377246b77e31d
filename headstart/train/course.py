"""Which batch comes when: the running number of a batch fixes its epoch and its place in it."""

from bisect import bisect_right
from typing import Any, Protocol


class Batches(Protocol):
    """What every source of batches offers: any position of any epoch, entered directly."""

    def steps(self, epoch: int) -> int: ...

    def batch(self, epoch: int, position: int) -> Any: ...


class Course:
    """Batch after batch, epoch after epoch, without a state that a resumed run could lose."""

    def __init__(self, source: Batches):
        self.source = source
        self.starts = [0]  # the running number at which each epoch starts

    def at(self, number: int) -> Any:
        epoch = self.epoch(number)
        return self.source.batch(epoch, number - self.starts[epoch])

    def epoch(self, number: int) -> int:
        """The epoch, counted from 0, in which batch `number` stands."""
        while self.starts[-1] <= number:
            self.starts.append(self.starts[-1] + self.source.steps(len(self.starts) - 1))
        return bisect_right(self.starts, number) - 1

    def end(self, epochs: int) -> int:
        """How many batches `epochs` have."""
        return sum(self.source.steps(epoch) for epoch in range(epochs))

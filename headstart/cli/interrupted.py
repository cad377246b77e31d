"""What is said when a run is stopped by a signal."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from headstart.cli.show import note


@contextmanager
def saved_on_interrupt(out: Path) -> Iterator[None]:
    """Exit code 130, and how to go on."""
    from headstart.train.signals import Interrupted

    try:
        yield
    except Interrupted as stopped:
        note(f"Stopped, {stopped}. Go on with the same command and --resume ({out}).")
        raise typer.Exit(130) from None
    except KeyboardInterrupt:
        note(f"Stopped. Go on with the same command and --resume ({out}), or repeat it if no training had begun.")
        raise typer.Exit(130) from None

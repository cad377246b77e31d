"""The command line: each command parses, calls one recipe, and shows what came back.

Nothing heavy is imported here, so that `--help` answers at once; a command imports its recipe when it runs.
"""

import errno
import os
import sys

from headstart.cli.app import app
from headstart.cli.one_voice import one_voice
from headstart.cli.show import complain
from headstart.cli.waiting import wait_politely
from headstart.errors import HeadstartError

# Commands register themselves on `app` in the order of their modules.
from headstart.cli import telling, texts, pretraining, finetuning, comparing, shooting  # isort: skip  # noqa: F401
from headstart.cli import using, writing, filling, embedding, translating, looking, killing  # isort: skip  # noqa: F401

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line. 1: a check failed. 2: the user can do something about it. 130: Ctrl-C."""
    wait_politely()
    try:
        with one_voice():
            app()
    except HeadstartError as problem:
        complain(str(problem))
        sys.exit(2)
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain("no space left on the disk")
        sys.exit(2)
    finally:
        if "headstart.train.loop" in sys.modules:  # else nothing was trained, and torch need not be read for this
            from headstart.train.loop import leave_workers

            leave_workers()  # threads of gloo that outlive the interpreter would abort it

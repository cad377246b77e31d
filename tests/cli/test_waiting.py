"""A training leaves room for other programs, unless the user says how its threads are to wait."""

import os
import subprocess
import sys

import pytest

from headstart.cli.waiting import SPINS

CODE = """
import os, sys
import headstart.cli as cli
cli.app = lambda: print(os.environ.get("GOMP_SPINCOUNT"), "torch" in sys.modules)
cli.main()
"""


@pytest.mark.parametrize(
    ("wish", "told"),
    [({}, SPINS), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, "None")],
    ids=["nothing said", "so many spins", "a policy"],
)
def test_how_threads_wait_is_said_before_torch_is_loaded(wish: dict[str, str], told: str) -> None:
    usual = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run([sys.executable, "-c", CODE], env=usual | wish, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [told, "False"]

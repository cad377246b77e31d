"""The most memory that a process has used; it imports nothing that would add to it."""

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Most resident bytes of this process since its program began.

    On Linux getrusage would also count the process that started it, if that was larger.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text("utf-8").split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

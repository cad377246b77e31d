"""One run folder, one writer."""

import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from headstart.errors import RunError


class Lock:
    """Held while a process writes into a folder; the system lets go of it when the process ends, however it ends."""

    def __init__(self, folder: Path):
        self.folder, self.path = folder, folder / ".lock"
        self.file: IO[str] | None = None
        self.made = False

    def __enter__(self) -> Self:
        self.made = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("a+", encoding="utf-8")
        except (PermissionError, FileExistsError, NotADirectoryError) as problem:
            raise RunError(f"{self.folder}: cannot be written ({problem.strerror}); choose another --out") from None
        try:
            _grab(self.file)
        except OSError:
            self.file.seek(0)
            holder = self.file.read().strip() or "another process"
            self.file.close()
            raise RunError(f"{self.folder}: {holder} is writing here; wait for it, or choose another --out") from None
        self.file.truncate(0)
        self.file.write(f"process {os.getpid()} on {json.dumps(socket.gethostname())}")
        self.file.flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.file is not None:
            self.path.unlink(missing_ok=True)
            self.file.close()
        if self.made:
            with suppress(OSError):  # it holds something, as it should
                self.folder.rmdir()


def _grab(file: IO[str]) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

"""One pipeline at a time on a directory of checkpoints.

The lock is the kernel's, on a file in the directory, so it ends with its holder. Spark's Java
inherits the file: when the pipeline's process is killed, Java may write to the checkpoints for
another moment, and until then the lock is held. The file says who holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from ottla.runtime.system_clock import SystemClock, sleep_blocking

_NAME: Final = ".lock"
# Java ends within seconds of its pipeline; on a busy host it takes longer.
_WAIT_S: Final = 60.0
_LOOK_S: Final = 0.1


class CheckpointInUseError(Exception):
    """Another pipeline runs on the same checkpoints. The message says which one."""


class CheckpointLock:
    """Held from `take` to `release`, or until the process and its Java have ended."""

    def __init__(self, descriptor: int) -> None:
        # For Java to inherit.
        self.descriptor = descriptor

    @classmethod
    def take(cls, directory: Path, holder: str) -> Self:
        """Waits for the Java of a process that was killed. Raises CheckpointInUseError."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / _NAME
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)  # noqa: TID251 - a lock
        deadline = SystemClock().monotonic() + _WAIT_S
        while not _is_locked(descriptor):
            found = _read(descriptor)
            if not _has_died(found) or SystemClock().monotonic() > deadline:
                os.close(descriptor)
                raise CheckpointInUseError(_describe(directory, found))
            sleep_blocking(_LOOK_S)
        now = datetime.fromtimestamp(SystemClock().now_ms() / 1_000, UTC)
        fields = {
            "pipeline": holder,
            "process": os.getpid(),
            "host": platform.node(),
            "since": now.isoformat(timespec="seconds"),
        }
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(fields).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        os.close(self.descriptor)


def _is_locked(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _read(descriptor: int) -> dict[str, Any]:
    """Empty while the holder has not written it yet."""
    with suppress(ValueError):
        found = json.loads(os.pread(descriptor, 4096, 0))
        if isinstance(found, dict):
            return found
    return {}


def _has_died(holder: dict[str, Any]) -> bool:
    """Whether the pipeline was killed, so that only its Java is left. Unknown for other hosts."""
    process = holder.get("process")
    if holder.get("host") != platform.node() or not isinstance(process, int):
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _describe(directory: Path, holder: dict[str, Any]) -> str:
    if not holder:
        return f"the checkpoints in {directory} are in use by another process"
    return (
        f"the checkpoints in {directory} are in use: {holder.get('pipeline')} has run on them "
        f"since {holder.get('since')}, in process {holder.get('process')} on host "
        f"{holder.get('host')}"
    )

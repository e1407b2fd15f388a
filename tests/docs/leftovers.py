"""Processes that others left behind: they become children of this one, which can end them."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE_SECONDS = 15.0
_POLL_SECONDS = 0.05


def adopt_orphans() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def end_children() -> list[str]:
    """Kills all children that do not end by themselves, and theirs. Returns their commands."""
    for _ in range(int(_PATIENCE_SECONDS / _POLL_SECONDS)):
        if not _children():
            return []
        threading.Event().wait(_POLL_SECONDS)
    commands = []
    while children := _children():
        for pid in children:
            commands.append(_command(pid))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return commands


def _children() -> list[int]:
    """Those that run; reaps those that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    own = os.getpid()
    tasks = Path(f"/proc/{own}/task")
    return [
        int(pid) for children in tasks.glob("*/children") for pid in children.read_text().split()
    ]


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return str(pid)

"""What a server's process takes, by the kernel's own count: processor time and resident memory.

A server may have children (a compressor, a compactor): they count, those that ended as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Positions in /proc/PID/stat after the command's closing bracket: utime, stime, cutime, cstime.
_TIMES = slice(11, 15)


def cpu_seconds(pid: int) -> float:
    return sum(_cpu_ticks(process) for process in _family(pid)) / _TICKS_PER_SECOND


def resident_bytes(pid: int) -> int:
    return sum(_resident_kib(process) for process in _family(pid)) * 1024


def _cpu_ticks(pid: int) -> int:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[_TIMES]))


def _resident_kib(pid: int) -> int:
    for line in _read(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(children).split():
            yield from _family(int(child))


def _read(path: Path) -> str:
    """Empty where the process, or a thread of it, has just ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""

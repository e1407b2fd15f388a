"""What the operating system knows about this process. Blocks for a moment: call it on a worker."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from typing import NamedTuple

_PAGE_BYTES = resource.getpagesize()
_START_TIME_FIELD = 19


class ProcessFacts(NamedTuple):
    cpu_seconds: float
    resident_bytes: int
    virtual_bytes: int
    open_files: int
    open_files_max: int
    # In seconds since the Unix epoch.
    started_at: float


def process_facts() -> ProcessFacts:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    virtual, resident = _memory_pages()
    return ProcessFacts(
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        resident_bytes=resident * _PAGE_BYTES,
        virtual_bytes=virtual * _PAGE_BYTES,
        open_files=_open_files(),
        open_files_max=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        started_at=_started_at(),
    )


def _memory_pages() -> tuple[int, int]:
    """Virtual and resident; 0 where the system has no /proc."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        virtual, resident, *_ = file.read().split()
        return int(virtual), int(resident)
    return 0, 0


def _open_files() -> int:
    with suppress(OSError):
        # One of them lists the directory.
        return len(os.listdir("/proc/self/fd")) - 1
    return 0


def _started_at() -> float:
    with suppress(OSError):
        with open("/proc/self/stat", "rb") as file:
            # The name before it may contain blanks.
            fields = file.read().rpartition(b")")[2].split()
        with open("/proc/stat", "rb") as file:
            booted_at = next(int(line.split()[1]) for line in file if line.startswith(b"btime"))
        return booted_at + int(fields[_START_TIME_FIELD]) / os.sysconf("SC_CLK_TCK")
    return 0.0

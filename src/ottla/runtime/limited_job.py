"""Runs a job in a worker process with limits: for work on what strangers wrote."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

_MEMORY_MAX: Final = 1 << 30


class JobLimits(NamedTuple):
    """Of the worker that runs the job: its processor time from now on, in whole seconds, and its
    address space. A worker that exceeds the first is killed by the kernel."""

    cpu_seconds: int
    memory: int = _MEMORY_MAX


def run_limited(limits: JobLimits, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + limits.cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, resource.RLIM_INFINITY))
    return function(*arguments)

"""A core for the client alone, as far as it is concerned: it stays on one, servers use all.

A client of a real cluster is on another machine. On this one the kernel likes to put whoever
answers on the core of whoever asks, and a latency says how they empty its caches for each other.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """For the processes and threads that this thread starts meanwhile."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)

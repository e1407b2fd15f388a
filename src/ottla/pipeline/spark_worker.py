"""Workarounds for Spark's Python workers, the processes that run one task after the other.

Spark starts and ends these processes. This module fixes two problems from inside of them:

- A worker runs a garbage collection between two tasks, over the objects of all modules. It takes
  25 ms with Spark's modules and 40 ms more with the compiled loops, and delays the next task.
- A worker that waits for a task when its session ends writes to the session's socket. On a Unix
  socket the write fails at once, and the worker would end the user's output with a traceback.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from functools import cache
from types import FrameType
from typing import Final

# Spark sets this variable for the workers that it starts.
_IS_WORKER: Final = "SPARK_REUSE_WORKER" in os.environ
_SPARK: Final = f"{os.sep}pyspark{os.sep}"
_LOOP_OF_WORKERS: Final = f"{_SPARK}daemon.py"


@cache
def set_aside(loaded: str) -> None:  # noqa: ARG001 - once for each
    """Excludes all present objects from garbage collection. Called once the modules are loaded."""
    if _IS_WORKER:
        gc.collect()
        gc.freeze()


def leave_quietly() -> None:
    """Exits without a traceback when Spark's socket is closed. Other broken pipes still raise."""
    if _IS_WORKER and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, _on_broken_pipe)


def _on_broken_pipe(_number: int, frame: FrameType | None) -> None:
    """Exits if Spark's worker loop itself wrote to the pipe, and not a task that it runs."""
    while frame is not None and _SPARK not in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.endswith(_LOOP_OF_WORKERS):
        os._exit(1)

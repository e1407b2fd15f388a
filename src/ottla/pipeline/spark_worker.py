"""The Python processes in which Spark calls what is here, one task after the other.

They belong to Spark. Two of their habits cost us something, and are mended from within:

- A worker looks for garbage between two tasks, in all objects of all modules: 25 ms for those of
  Spark and 40 more once the compiled loops are there, for which the next task waits.
- A worker that waits for work when its session ends writes to the session that nothing more came.
  On a Unix socket that fails at once, and the user's last lines would be a traceback.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from functools import cache
from types import FrameType
from typing import Final

# Spark sets it for the processes that it starts.
_IS_WORKER: Final = "SPARK_REUSE_WORKER" in os.environ
_SPARK: Final = f"{os.sep}pyspark{os.sep}"
_LOOP_OF_WORKERS: Final = f"{_SPARK}daemon.py"


@cache
def set_aside(loaded: str) -> None:  # noqa: ARG001 - once for each
    """Nobody looks for garbage any more in what is here now: modules, once they are loaded."""
    if _IS_WORKER:
        gc.collect()
        gc.freeze()


def leave_quietly() -> None:
    """Without a word if Spark is gone. What else this process writes to fails as before."""
    if _IS_WORKER and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, _on_broken_pipe)


def _on_broken_pipe(_number: int, frame: FrameType | None) -> None:
    """Spark's loop has written, and no task of anybody's that it has called."""
    while frame is not None and _SPARK not in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.endswith(_LOOP_OF_WORKERS):
        os._exit(1)

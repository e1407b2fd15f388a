"""Functions that tests hand to a worker process, which has to find them in a module."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


class UnpicklableError(Exception):
    def __init__(self, one: int, another: int) -> None:
        super().__init__(f"{one} and {another}")


def own_process_id() -> int:
    return os.getpid()


def add(one: int, another: int) -> int:
    return one + another


def fail(message: str) -> None:
    raise LookupError(message)


def fail_unpicklably() -> None:
    raise UnpicklableError(1, 2)


def return_something_unpicklable() -> Callable[[], int]:
    return lambda: 1


def exit_with(code: int) -> None:
    os._exit(code)


def exit_by_signal() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def announce_and_never_end(path: str) -> None:
    """Writes its process id to a pipe that the test reads, then stays."""
    with open(path, "w") as pipe:
        pipe.write(str(os.getpid()))
    signal.pause()

"""The lease of a supervised pipeline. Its supervisor renews it through standard input.

A lease that expires means that another supervisor may start the pipeline at any moment; a closed
input, that the supervisor is gone. Either ends the process: in order as long as the lease lasts,
then at once, with its Java. Ending at once is as safe as a kill.
"""

from __future__ import annotations

import os
import select
from threading import Thread
from typing import Final

from ottla.cli.pipelines.stop_signals import StopSignals
from ottla.runtime.system_clock import SystemClock

_INPUT: Final = 0
_FIRST_S: Final = 30.0
_READ_BYTES: Final = 4096
# The exit code of a process whose lease has expired.
EXPIRED: Final = 75


class SupervisedLease(Thread):
    """Runs until the process ends."""

    def __init__(self, signals: StopSignals) -> None:
        super().__init__(name="lease", daemon=True)
        self._signals = signals
        self._clock = SystemClock()
        self._until = self._clock.monotonic() + _FIRST_S
        self._rest = b""

    def run(self) -> None:
        is_open = True
        while (left := self._until - self._clock.monotonic()) > 0:
            ready, _, _ = select.select([_INPUT] if is_open else [], [], [], left)
            if ready and not self._read():
                is_open = False
                self._signals.request()
        _end_at_once()

    def _read(self) -> bool:
        """Whether the supervisor is still there."""
        data = os.read(_INPUT, _READ_BYTES)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            word, _, value = line.partition(b" ")
            if word == b"until":
                self._until = float(value)
        return bool(data)


def _end_at_once() -> None:
    from ottla.pipeline.running.session import kill_java

    kill_java()
    os._exit(EXPIRED)

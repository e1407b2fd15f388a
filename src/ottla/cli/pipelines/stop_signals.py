"""SIGINT and SIGTERM end a pipeline in order.

Until the queries start there is nothing to save: a signal interrupts whatever the process does.
From then on the first signal is only noted, because an exception would break a call to Java in the
middle; a second one interrupts.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Listens while it is entered. Raises KeyboardInterrupt in the main thread."""

    def __init__(self) -> None:
        self._count = 0
        self._is_deferring = False
        self._is_ending = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def is_stopping(self) -> bool:
        return self._count > 0

    @property
    def is_impatient(self) -> bool:
        """A second signal interrupted the orderly end."""
        return self._is_deferring and self._count > 1

    def listen_again(self) -> None:
        """After Spark has started, which sets a handler of its own."""
        for number in _SIGNALS:
            signal.signal(number, self._take)

    def defer(self) -> None:
        """From now on the first signal only sets `is_stopping`."""
        self._is_deferring = True

    def request(self) -> None:
        """As the first signal after `defer` does. Any thread may call it."""
        self._count = max(self._count, 1)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_ending:
            return
        self._count += 1
        if not self._is_deferring or self._count > 1:
            # Nothing interrupts the end of Java any more.
            self._is_ending = True
            raise KeyboardInterrupt

"""One of pytest-xdist's workers collects before the others do.

In a fresh checkout every one of them would compile all tests, at the same time. Now one does, and
the others find it done.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

FIRST = "gw0"
_POLL_SECONDS = 0.02
# Should the first one die, they are slow and no more.
_WAIT_SECONDS_MAX = 60.0


class FirstCollection:
    """As one worker sees it. The first worker removes the file that marks it."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self._is_first = worker["workerid"] == FIRST
        self._done = Path(tempfile.gettempdir()) / f"collected-{worker['testrunuid']}"

    def wait(self) -> None:
        deadline = time.perf_counter() + _WAIT_SECONDS_MAX
        while not (self._is_first or self._done.exists() or time.perf_counter() > deadline):
            time.sleep(_POLL_SECONDS)

    def finish(self) -> None:
        if self._is_first:
            self._done.touch()

    def forget(self) -> None:
        if self._is_first:
            self._done.unlink(missing_ok=True)

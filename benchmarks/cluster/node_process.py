"""One node of a cluster as the operating system sees it: started, ended, killed, paused."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.versus.process_usage import cpu_seconds, resident_bytes
from benchmarks.versus.servers import LOG_CHARS, raise_open_files

STOP_TIMEOUT_S = 60.0


class NodeProcess:
    """Not running until `start`; after it was stopped or killed it can be started again.

    Its data and the log of what it printed stay; the owner of their directory removes it.
    """

    def __init__(self, node_id: int, *, address: str, command: Sequence[str], log: Path) -> None:
        self.id = node_id
        # Where its clients connect.
        self.address = address
        self._command = command
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns at once: when it is of use is for the cluster to say."""
        assert self._process is None
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, preexec_fn=raise_open_files
            )

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def last_log(self) -> str:
        """The end of what it printed."""
        return self._log.read_text(errors="replace")[-LOG_CHARS:] if self._log.exists() else ""

    def request_stop(self) -> None:
        self._running.terminate()

    def wait_stopped(self) -> None:
        """Ends it by force where it takes too long."""
        try:
            self._running.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()
        self._process = None

    def kill(self) -> None:
        """SIGKILL, which meets a paused process as well; nothing where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        self._running.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._running.send_signal(signal.SIGCONT)

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._running.pid)

    def resident_bytes(self) -> int:
        return resident_bytes(self._running.pid)

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

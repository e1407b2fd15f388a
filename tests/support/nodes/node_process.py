"""`ottla start` as a process of its own, over a directory that outlives it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.nodes.process_end import STOP_SECONDS_MAX, end_process

START_SECONDS_MAX = 60.0
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_READY = "Ready on "


class NodeProcess:
    """Starts with its `with` and is stopped with it. In between it can be killed and started again
    on the same port. What it says on stderr is collected over all its lives. With `listeners` among
    the settings, it has these instead of one in plaintext."""

    def __init__(
        self,
        scratch: Path,
        settings: Mapping[str, str] | None = None,
        *,
        open_files_max: int | None = None,
    ) -> None:
        self.data = scratch / "data"
        self.port = 0
        # Of all listeners, those of controllers first.
        self.ports: list[int] = []
        self._stderr = scratch / "stderr.txt"
        self._settings = [f"--set={name}={value}" for name, value in (settings or {}).items()]
        self._has_listeners = "listeners" in (settings or {})
        self._open_files_max = open_files_max
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self.stop()

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the node is not running"
        return self._process.pid

    def wait_ended(self) -> int:
        """The exit code of a process that ends by itself."""
        assert self._process is not None, "the node is not running"
        code = self._process.wait(STOP_SECONDS_MAX)
        self.kill()
        return code

    def start(self) -> float:
        """Returns the seconds until it said that it was ready."""
        assert self._process is None, "the node is running"
        ottla = Path(sys.executable).with_name("ottla")
        place = [] if self._has_listeners else ["--listen", f"127.0.0.1:{self.port}"]
        if not any(each.startswith("--set=log.dirs=") for each in self._settings):
            place += ["--data-dir", str(self.data)]
        started = time.perf_counter()
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                [str(ottla), "start", *place, *self._settings],
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                preexec_fn=self._limit_open_files,
            )
        assert self._process.stdout is not None
        # A node that hangs is killed, and then says nothing more.
        watchdog = threading.Timer(START_SECONDS_MAX, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        assert line.startswith(_READY), f"the node did not start: {line}{self.stderr}"
        addresses = line.removeprefix(_READY).partition(" (")[0].split(", ")
        self.ports = [int(each.rpartition(":")[2]) for each in addresses]
        self.port = self.ports[0]
        return time.perf_counter() - started

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> float:
        """Ends it orderly and returns the seconds that took."""
        started = time.perf_counter()
        code = self._end(signal.SIGTERM)
        assert code == 0, f"the node ended with {code}: {self.stderr}"
        return time.perf_counter() - started

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None, "the node is not running"
        process, self._process = self._process, None
        return end_process(process, number)

    @property
    def stderr(self) -> str:
        return self._stderr.read_text(errors="replace")

    def assert_no_traceback(self) -> None:
        assert "Traceback" not in self.stderr, self.stderr[-8_000:]

    @property
    def resident_bytes(self) -> int:
        return self._kibibytes("VmRSS")

    @property
    def resident_bytes_peak(self) -> int:
        """The most it ever had in this life, or since `forget_peak`."""
        return self._kibibytes("VmHWM")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    @property
    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND

    @property
    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def _limit_open_files(self) -> None:
        """As `ulimit -n` would; all that there are unless the test says how many."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = self._open_files_max or hard
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    def _kibibytes(self, name: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"the kernel does not report {name}")

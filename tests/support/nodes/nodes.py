"""Real nodes for tests: `ottla start` in a process of its own, on any free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.support.nodes.process_end import end_process

READY_TIMEOUT_S = 30.0
OTTLA = Path(sys.executable).with_name("ottla")


@dataclass(frozen=True, slots=True)
class RunningNode:
    """A node that clients can connect to; it belongs to `running_node`."""

    bootstrap: str
    data_directory: Path
    process: subprocess.Popen[str]


@contextmanager
def running_node(
    tmp_path: Path, *, settings: Mapping[str, str] | None = None
) -> Iterator[RunningNode]:
    """Runs a node over `tmp_path` while the body does its work, then stops it by SIGTERM.

    `settings` are broker configs; with log.dirs among them, `tmp_path` is not used. What the node
    wrote to its standard error is shown if it does not get ready, does not end well, or had an
    exception that it did not expect.
    """
    options = [f"--set={name}={value}" for name, value in (settings or {}).items()]
    place = [] if "log.dirs" in (settings or {}) else ["--data-dir", str(tmp_path)]
    command = [str(OTTLA), "start", *place, "--listen", "127.0.0.1:0"]
    with tempfile.TemporaryFile("w+") as stderr:
        # Wide lines: the log is folded to the terminal's width.
        environment = {**os.environ, "COLUMNS": "200"}
        process = subprocess.Popen(
            command + options, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
        try:
            yield RunningNode(_wait_ready(process, stderr), tmp_path, process)
        finally:
            _stop(process, stderr)


def _wait_ready(process: subprocess.Popen[str], stderr: IO[str]) -> str:
    assert process.stdout is not None
    deadline = threading.Timer(READY_TIMEOUT_S, process.kill)
    deadline.start()
    line = process.stdout.readline()
    deadline.cancel()
    ready = re.match(r"Ready on ([^ ,]+)", line)
    if ready is None:
        process.kill()
        raise AssertionError(f"the node did not get ready: {line}{_text(stderr)}")
    return ready[1]


def _stop(process: subprocess.Popen[str], stderr: IO[str]) -> None:
    try:
        code = end_process(process, signal.SIGTERM)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"the node did not stop: {_text(stderr)}") from None
    errors = _text(stderr)
    assert code == 0, f"the node ended with {code}: {errors}"
    assert "Traceback" not in errors, f"the node had an exception: {errors}"


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()

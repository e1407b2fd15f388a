"""Children as processes: `ottla pipelines run FILE --supervised`.

The supervisor renews a child's lease through its standard input, and reads its progress from its
standard output, a JSON object per line. Both ends notice when the other one is gone. What the child
says otherwise is in its log.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ottla.runtime.tasks import Tasks
from ottla.web.supervisor.model.child_options import (
    FILE,
    InvalidDeploymentError,
    definition_file,
)
from ottla.web.supervisor.model.deployment import Deployment
from ottla.web.supervisor.model.lifecycle import Exit
from ottla.web.supervisor.running.child import Child, ChildRefusedError

_log = logging.getLogger(__name__)

_LINE_BYTES_MAX: Final = 1 << 20
_LOG_BYTES_MAX: Final = 10 << 20
_QUERIES_MAX: Final = 1_000
# Wrong usage, or a missing package.
_HOPELESS_CODES: Final = (2,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSettings:
    """What the operator chose. `arguments` are those of each `ottla pipelines run` and `check`,
    such as the cluster's address; `program` is that command, without its last word."""

    definitions: Path
    checkpoints: Path
    logs: Path
    arguments: tuple[str, ...]
    program: tuple[str, ...] = (sys.executable, "-m", "ottla", "pipelines")

    def log_of(self, name: str) -> Path:
        return self.logs / f"{name}.log"


class ProcessChildren:
    def __init__(self, settings: ChildSettings) -> None:
        self._settings = settings
        self._tasks = Tasks(_failed)

    async def start(self, deployment: Deployment, epoch: int, until: float) -> Child:
        """Raises ChildRefusedError or OSError."""
        settings, name = self._settings, deployment.name
        file = self._file(deployment)
        checkpoints = settings.checkpoints / name / str(deployment.checkpoint)
        options = ["--checkpoints", str(checkpoints), "--json", "--supervised", "--name", name]
        options += ["--spark-log", str(settings.logs / f"{name}.spark.log")]
        for setting, value in spark_settings(deployment.config).items():
            options += ["--conf", f"{setting}={value}"]
        log = self._log(name, epoch)
        try:
            process = await asyncio.create_subprocess_exec(
                *settings.program,
                "run",
                str(file),
                *settings.arguments,
                *options,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=_LINE_BYTES_MAX,
                start_new_session=True,
            )
        finally:
            os.close(log)
        child = ProcessChild(process)
        child.renew(until)
        self._tasks.start(f"output of {name}", child.read())
        return child

    async def close(self) -> None:
        await self._tasks.close()

    def _file(self, deployment: Deployment) -> Path:
        try:
            file = definition_file(self._settings.definitions, deployment.config[FILE])
        except InvalidDeploymentError as error:
            raise ChildRefusedError(str(error)) from None
        if digest_of(file) != deployment.digest:
            raise ChildRefusedError(
                f"{file.name} on this host is not version {deployment.version}: deploy it again, "
                "or copy that version here"
            )
        return file

    def _log(self, name: str, epoch: int) -> int:
        """A descriptor to append to; one older log is kept."""
        path = self._settings.log_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _LOG_BYTES_MAX:
            path.replace(path.with_suffix(".log.1"))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)  # noqa: TID251
        os.write(descriptor, f"--- epoch {epoch}\n".encode())
        return descriptor


class ProcessChild:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.progress: dict[str, Mapping[str, Any]] = {}
        self._process = process
        self._failure = ""

    def renew(self, until: float) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.is_closing():
            stdin.write(f"until {until:.3f}\n".encode())

    def stop(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    async def ended(self) -> Exit:
        code = await self._process.wait()
        if code == 0:
            return Exit(is_failure=False, reason="it was ended by a signal")
        if code < 0:
            return Exit(is_failure=True, reason=f"it was killed by {_signal_name(-code)}")
        reason = self._failure or f"it has ended with the exit code {code}; see its log"
        return Exit(is_failure=True, reason=reason, is_hopeless=code in _HOPELESS_CODES)

    async def read(self) -> None:
        """Until the child has ended."""
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            try:
                line = await stdout.readline()
            except ValueError:
                # Longer than any progress; the rest of it is skipped as well.
                continue
            if not line:
                return
            with suppress(ValueError):
                self._take(json.loads(line))

    def _take(self, fields: Any) -> None:
        if not isinstance(fields, dict):
            return
        if isinstance(fields.get("failure"), str):
            self._failure = fields["failure"]
        query = fields.get("query")
        is_known = query in self.progress or len(self.progress) < _QUERIES_MAX
        if isinstance(query, str) and is_known:
            rows = self.progress.get(query, {}).get("rows_total", 0)
            self.progress[query] = {**fields, "rows_total": rows + fields.get("rows", 0)}

    def _signal(self, number: signal.Signals) -> None:
        # Java is in a session of its own, and ends when its pipe does.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def spark_settings(config: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in config.items() if name.startswith("spark.")}


def digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def last_lines(file: Path, count: int, *, bytes_max: int = 1 << 20) -> Sequence[str]:
    """Of a log; none if there is none."""
    if not file.exists():
        return ()
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - bytes_max))
        return opened.read().decode(errors="replace").splitlines()[-count:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)

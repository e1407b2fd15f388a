"""Runs a pipeline as a separate process, whose progress can be read and which can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Final

from ottla.cli.exit_codes import CommandError

_LOG_LINES_SHOWN: Final = 15
_OPTIONS: Final = (
    *("--master", "local[2]"),
    # A heap that leaves memory for three nodes, and a JVM that starts quickly.
    *("--conf", "spark.driver.memory=1g"),
    *("--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
    *("--conf", "spark.sql.shuffle.partitions=2"),
)


class PipelineProcess:
    """Runs `ottla pipelines run FILE` repeatedly in the same directory: each run resumes where the
    one before ended. Its progress is kept there as JSON lines."""

    def __init__(self, file: Path, bootstrap: str, home: Path) -> None:
        self._file = file
        self._bootstrap = bootstrap
        self._home = home
        self._progress_file = home / "progress.jsonl"
        self._log = home / "pipeline.log"
        self._position = 0
        self._process: subprocess.Popen[bytes] | None = None
        # The rows of each batch of each query. A repeated batch counts once.
        self._batches: dict[str, dict[int, int]] = defaultdict(dict)

    def start(self, *, once: bool) -> None:
        command = [sys.executable, "-m", "ottla", "pipelines", "run", str(self._file)]
        options = ["-b", self._bootstrap, "--checkpoints", str(self._home / "checkpoints")]
        with self._progress_file.open("ab") as progress, self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - this program
                [*command, *options, *_OPTIONS, "--json", *(["--once"] if once else [])],
                stdout=progress,
                stderr=log,
                cwd=self._home,
                # A process group of its own, so that a kill ends Python and Java at once.
                start_new_session=True,
            )

    def kill(self) -> None:
        """Sends SIGKILL to the process group. Does nothing if the process has ended."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def has_ended(self) -> bool:
        """Whether the pipeline has ended successfully. Raises CommandError if it has failed."""
        assert self._process is not None
        code = self._process.poll()
        if code:
            lines = self._log.read_text(errors="replace").splitlines()[-_LOG_LINES_SHOWN:]
            raise CommandError("The pipeline stopped with this output:", *lines)
        return code == 0

    def rows(self) -> dict[str, int]:
        """How many rows each query has read so far, from its reported progress."""
        if self._progress_file.exists():
            with self._progress_file.open("rb") as file:
                file.seek(self._position)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._position += len(line)
                    self._take(line)
        return {query: sum(batches.values()) for query, batches in self._batches.items()}

    def _take(self, line: bytes) -> None:
        # A killed run may have left an incomplete line before this one.
        with suppress(json.JSONDecodeError):
            progress = json.loads(line)
            self._batches[progress["query"]][progress["batch_id"]] = progress["rows"]

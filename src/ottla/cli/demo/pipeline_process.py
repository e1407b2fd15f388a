"""A pipeline as a process of its own, which tells how far it is and can be killed."""

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
    # A heap that leaves room for three nodes, and no work that pays only in a long life.
    *("--conf", "spark.driver.memory=1g"),
    *("--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
    *("--conf", "spark.sql.shuffle.partitions=2"),
)


class PipelineProcess:
    """`ottla pipelines run FILE`, over and over in the same directory: what a run has not done to
    the end, the next one does. What it tells is kept there, line by line."""

    def __init__(self, file: Path, bootstrap: str, home: Path) -> None:
        self._file = file
        self._bootstrap = bootstrap
        self._home = home
        self._told = home / "progress.jsonl"
        self._log = home / "pipeline.log"
        self._position = 0
        self._process: subprocess.Popen[bytes] | None = None
        # Rows of each batch of each query. A batch that is done again counts once.
        self._batches: dict[str, dict[int, int]] = defaultdict(dict)

    def start(self, *, once: bool) -> None:
        command = [sys.executable, "-m", "ottla", "pipelines", "run", str(self._file)]
        options = ["-b", self._bootstrap, "--checkpoints", str(self._home / "checkpoints")]
        with self._told.open("ab") as told, self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - this program
                [*command, *options, *_OPTIONS, "--json", *(["--once"] if once else [])],
                stdout=told,
                stderr=log,
                cwd=self._home,
                # A group of its own, so that a kill ends Python's and Java's halves at once.
                start_new_session=True,
            )

    def kill(self) -> None:
        """SIGKILL, to all of it. Does nothing if it has ended."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def has_ended(self) -> bool:
        """Whether it has done all there was. Raises CommandError if it stopped before that."""
        assert self._process is not None
        code = self._process.poll()
        if code:
            lines = self._log.read_text(errors="replace").splitlines()[-_LOG_LINES_SHOWN:]
            raise CommandError("The pipeline stopped, saying:", *lines)
        return code == 0

    def rows(self) -> dict[str, int]:
        """How many rows each query has taken in so far, by its own word."""
        if self._told.exists():
            with self._told.open("rb") as file:
                file.seek(self._position)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._position += len(line)
                    self._take(line)
        return {query: sum(batches.values()) for query, batches in self._batches.items()}

    def _take(self, line: bytes) -> None:
        # A run that was killed may have left half a line before this one.
        with suppress(json.JSONDecodeError):
            told = json.loads(line)
            self._batches[told["query"]][told["batch_id"]] = told["rows"]

"""A dump as JSON, one object per line. Problems are also printed on standard error."""

from __future__ import annotations

import json

from rich.console import Console

from ottla.dump.files import KnownFile
from ottla.dump.json_rows import row_to_json, statistics_to_json
from ottla.dump.plain import Fields
from ottla.dump.rows import Problem, Row
from ottla.dump.statistics import LogStatistics


class JsonOutput:
    """See `DumpOutput`."""

    def __init__(self, stdout: Console, stderr: Console) -> None:
        self._write = stdout.file.write
        self._stderr = stderr
        self._path = ""

    def begin_file(self, file: KnownFile, size_in_bytes: int) -> None:  # noqa: ARG002
        self._path = file.path

    def row(self, row: Row) -> None:
        self._line(row_to_json(self._path, row))
        if isinstance(row, Problem):
            self.message(row.reason)

    def end_file(self) -> None:
        pass

    def statistics(self, path: str, statistics: LogStatistics) -> None:
        self._line(statistics_to_json(path, statistics))

    def message(self, text: str) -> None:
        self._stderr.print(text, style="red", markup=False, soft_wrap=True)

    def _line(self, plain: Fields) -> None:
        self._write(json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n")

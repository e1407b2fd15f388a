"""Where the rows of a dump go."""

from __future__ import annotations

from typing import Protocol

from ottla.dump.files import KnownFile
from ottla.dump.rows import Row
from ottla.dump.statistics import LogStatistics


class DumpOutput(Protocol):
    """Gets files one after the other, each with its rows; shows them as they come."""

    def begin_file(self, file: KnownFile, size_in_bytes: int) -> None: ...

    def row(self, row: Row) -> None: ...

    def end_file(self) -> None: ...

    def statistics(self, path: str, statistics: LogStatistics) -> None:
        """Those of a whole log, which takes the place of its files' rows."""

    def message(self, text: str) -> None:
        """Tells why a path has no rows, or no more."""

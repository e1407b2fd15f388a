"""The interface of a dump's outputs."""

from __future__ import annotations

from typing import Protocol

from ottla.dump.files import KnownFile
from ottla.dump.rows import Row
from ottla.dump.statistics import LogStatistics


class DumpOutput(Protocol):
    """Receives files one after the other, each with its rows, and shows them immediately."""

    def begin_file(self, file: KnownFile, size_in_bytes: int) -> None: ...

    def row(self, row: Row) -> None: ...

    def end_file(self) -> None: ...

    def statistics(self, path: str, statistics: LogStatistics) -> None:
        """Shows the statistics of a whole log instead of its files' rows."""

    def message(self, text: str) -> None:
        """Shows why a path has no rows, or no further rows."""

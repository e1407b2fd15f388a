"""Runs `ottla dump`: finds the files, reads their rows, and passes them to an output.

After a problem with one file it continues with the others; the exit code is that of the worst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, IntEnum, auto
from itertools import chain
from pathlib import Path

from ottla.cli.display.pipe import reader_may_leave
from ottla.cli.display.progress import ByteProgress
from ottla.cli.display.terminal import open_terminal
from ottla.cli.dump.json_lines import JsonOutput
from ottla.cli.dump.output import DumpOutput
from ottla.cli.dump.tables import TableOutput
from ottla.dump.files import LOGS, Kind, KnownFile, list_files, recognise, without_segments_outside
from ottla.dump.reading import Reading, read_rows
from ottla.dump.readonly_disk import ReadonlyDisk
from ottla.dump.rows import Problem, Row
from ottla.dump.statistics import LogStatistics, gather
from ottla.dump.verification import verify_file
from ottla.runtime.disk import Disk
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.files.file_names import FileState


class Mode(Enum):
    CONTENT = auto()
    VERIFY = auto()
    STATISTICS = auto()


class DumpExitCode(IntEnum):
    SOUND = 0
    CORRUPT = 1
    UNREADABLE = 2


def run_dump(paths: Iterable[str], reading: Reading, mode: Mode, *, as_json: bool) -> DumpExitCode:
    stdout, stderr = open_terminal()
    output: DumpOutput = (
        JsonOutput(stdout, stderr)
        if as_json
        else TableOutput(stdout, stderr, deep=reading.deep, has_headings=mode is Mode.CONTENT)
    )
    # Rows that scroll on the terminal show the progress already.
    is_quiet = mode is not Mode.CONTENT or not stdout.is_terminal
    is_shown = is_quiet and stderr.is_terminal
    with ByteProgress(stderr, SystemClock(), is_shown=is_shown) as progress:
        dump = Dump(ReadonlyDisk(SystemDisk()), output, reading, progress)
        with reader_may_leave():
            dump.run(paths, mode)
    return dump.exit_code


class Dump:
    """One run over some paths. `exit_code` is that of the worst problem so far."""

    def __init__(
        self, disk: Disk, output: DumpOutput, reading: Reading, progress: ByteProgress
    ) -> None:
        self.exit_code = DumpExitCode.SOUND
        self._disk = disk
        self._output = output
        self._reading = reading
        self._progress = progress

    def run(self, paths: Iterable[str], mode: Mode) -> DumpExitCode:
        found = [(path, file) for path in paths for file in self._files_of(path)]
        if mode is Mode.STATISTICS:
            self._run_statistics(found)
        else:
            self._progress.bytes_total = sum(self._size_of(file) for _, file in found)
            for _, file in found:
                self._show(file, mode)
        return self.exit_code

    def _run_statistics(self, found: list[tuple[str, KnownFile]]) -> None:
        """Shows statistics. The segments of a directory count as one log; a file named as a path
        is a log by itself, and so is a snapshot."""
        logs: dict[str, list[KnownFile]] = {}
        for path, file in found:
            if file.kind in LOGS:
                is_segment = file.kind is Kind.LOG and file.path != path
                logs.setdefault(file.directory if is_segment else file.path, []).append(file)
        if found and not logs:
            self._unreadable(
                "--stats needs at least one log (.log), and there is none among these files"
            )
        self._progress.bytes_total = sum(map(self._size_of, chain(*logs.values())))
        for name, files in logs.items():
            self._show_statistics(name, files)

    def _show(self, file: KnownFile, mode: Mode) -> None:
        size = self._size_of(file)
        watch = self._progress.begin_file(size)
        self._output.begin_file(file, size)
        if mode is Mode.VERIFY:
            self._show_rows(file, verify_file(self._disk, file, watch))
        else:
            self._show_rows(file, read_rows(self._disk, file, self._reading, watch))
        self._output.end_file()

    def _show_rows(self, file: KnownFile, rows: Iterable[Row]) -> None:
        for row in self._until_unreadable(file, rows):
            if isinstance(row, Problem):
                self._at_least(DumpExitCode.CORRUPT)
            self._output.row(row)

    def _until_unreadable(self, file: KnownFile, rows: Iterable[Row]) -> Iterator[Row]:
        """Yields rows until a read fails. Errors of the output are not caught here."""
        try:
            yield from rows
        except OSError as error:
            self._unreadable(f"{file.path}: {error.strerror}")

    def _show_statistics(self, name: str, files: list[KnownFile]) -> None:
        """Segments that are being added or deleted count only if there are no live ones."""
        live = [file for file in files if file.state is FileState.LIVE]
        statistics = LogStatistics()
        for file in live or files:
            size = self._size_of(file)
            watch = self._progress.begin_file(size)
            self._output.begin_file(file, size)
            rows = gather(self._disk, file, self._reading.selection, statistics, watch)
            self._show_rows(file, rows)
        self._output.statistics(name, statistics)

    def _files_of(self, path: str) -> list[KnownFile]:
        working_directory = str(Path.cwd())
        try:
            if not self._disk.is_directory(path):
                return self._file_of(path, working_directory)
            found = list_files(self._disk, path, working_directory=working_directory)
            files = without_segments_outside(list(found), self._reading.selection)
        except OSError as error:
            self._unreadable(f"{path}: {error.strerror}")
            return []
        if not files:
            self._unreadable(f"{path}: the directory contains no log files")
        return files

    def _file_of(self, path: str, working_directory: str) -> list[KnownFile]:
        if not self._disk.exists(path):
            self._unreadable(
                f"{path}: there is no such file or directory; name a log file, or a directory "
                "with log files"
            )
            return []
        file = recognise(path, working_directory=working_directory)
        if file is None:
            self._unreadable(
                f"{path}: unknown file name. Segments are named after their first offset in 20 "
                "digits (.log, .index, .timeindex, .txnindex, .snapshot); `ottla dump --help` "
                "names the others"
            )
            return []
        return [file]

    def _size_of(self, file: KnownFile) -> int:
        try:
            return self._disk.file_size(file.path)
        except OSError:
            # Deleted since it was listed; opening it reports that.
            return 0

    def _unreadable(self, message: str) -> None:
        self._at_least(DumpExitCode.UNREADABLE)
        self._output.message(message)

    def _at_least(self, code: DumpExitCode) -> None:
        self.exit_code = max(self.exit_code, code)

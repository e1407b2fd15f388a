"""A run goes on after one file fails, and shows rows before it has read all of them."""

import errno
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from ottla.cli.display.progress import PATIENCE_S, ByteProgress
from ottla.cli.dump.growing_table import ROWS_AT_ONCE
from ottla.cli.dump.json_lines import JsonOutput
from ottla.cli.dump.output import DumpOutput
from ottla.cli.dump.run import Dump, DumpExitCode, Mode
from ottla.cli.dump.tables import TableOutput
from ottla.dump.files import recognise
from ottla.dump.reading import Reading
from ottla.dump.readonly_disk import ReadonlyDisk
from ottla.runtime.disk import File
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.indexes.offset_index import OffsetPosition
from tests.support.storage.dumped import DISK, LOG, plain_batches, write_log


class FailingDisk(ReadonlyDisk):
    """A device on which one file cannot be read."""

    __slots__ = ("broken",)

    def __init__(self, broken: Path) -> None:
        super().__init__(SystemDisk())
        self.broken = str(broken)

    def open_readonly(self, path: str) -> File:
        if path == self.broken:
            raise OSError(errno.EIO, "Input/output error", path)
        return super().open_readonly(path)


class TestConsole(Console):
    """A console whose text can be asked for."""

    __test__ = False

    @property
    def text(self) -> str:
        assert isinstance(self.file, io.StringIO)
        return self.file.getvalue()


def console() -> TestConsole:
    return TestConsole(file=io.StringIO(), width=100)


def run(
    disk: ReadonlyDisk, output: DumpOutput, *paths: Path, mode: Mode = Mode.CONTENT
) -> DumpExitCode:
    with ByteProgress(console(), SystemClock(), is_shown=False) as progress:
        return Dump(disk, output, Reading(), progress).run(map(str, paths), mode)


@pytest.mark.parametrize("mode", Mode)
def test_file_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path, mode: Mode) -> None:
    broken = write_log(tmp_path / "a-0", plain_batches(1))
    sound = write_log(tmp_path / "b-0", plain_batches(2))
    stdout, stderr = console(), console()
    code = run(FailingDisk(broken), JsonOutput(stdout, stderr), broken, sound, mode=mode)
    assert code is DumpExitCode.UNREADABLE
    assert f"{broken}: Input/output error" in stderr.text
    assert str(sound) in stdout.text


def test_output_that_breaks_is_no_fault_of_the_file(tmp_path: Path) -> None:
    class BrokenPipe(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    output = JsonOutput(Console(file=BrokenPipe()), console())
    with pytest.raises(BrokenPipeError):
        run(DISK, output, write_log(tmp_path, plain_batches(1)))


def table_output(stdout: Console) -> TableOutput:
    output = TableOutput(stdout, console(), deep=False, has_headings=True)
    file = recognise(f"/{LOG.replace('log', 'index')}")
    assert file is not None
    output.begin_file(file, 0)
    return output


def test_rows_appear_before_the_last_one_is_there() -> None:
    stdout = console()
    output = table_output(stdout)
    for number in range(ROWS_AT_ONCE):
        assert stdout.text == ""
        output.row(OffsetPosition(number, number))
    assert len(stdout.text.splitlines()) == ROWS_AT_ONCE + 2


def test_columns_grow_and_titles_come_once() -> None:
    stdout = console()
    output = table_output(stdout)
    for number in (*range(ROWS_AT_ONCE), 10**15, 7):
        output.row(OffsetPosition(number, number))
    output.end_file()
    lines = stdout.text.splitlines()
    assert stdout.text.count("position") == 1
    wide, narrow = lines[-3], lines[-2]
    assert wide.split() == [str(10**15)] * 2
    assert narrow.index("7") == wide.index(" ") - 1


class SteppingClock(SystemClock):
    """Each look at it takes the time that the test sets."""

    __slots__ = ("now", "step")

    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


@pytest.mark.parametrize(
    ("step", "is_shown", "is_there"),
    [(PATIENCE_S, True, True), (PATIENCE_S / 100, True, False), (PATIENCE_S, False, False)],
)
def test_bar_appears_only_after_a_while_and_on_a_terminal(
    step: float, is_shown: bool, is_there: bool
) -> None:
    terminal = TestConsole(file=io.StringIO(), width=100, force_terminal=True)
    with ByteProgress(terminal, SteppingClock(step), is_shown=is_shown) as progress:
        progress.bytes_total = 300
        watches: list[Callable[[int], None] | None] = [
            progress.begin_file(100),
            progress.begin_file(200),
        ]
        for watch in watches:
            if watch is not None:
                watch(50)
    assert ("150/300 bytes" in terminal.text) == is_there

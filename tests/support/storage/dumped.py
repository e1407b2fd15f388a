"""Files to dump, and what a dump of them gives."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from ottla.dump.files import recognise
from ottla.dump.reading import Reading, read_rows
from ottla.dump.readonly_disk import ReadonlyDisk
from ottla.dump.rows import Problem, Row, Verdict
from ottla.dump.selection import Selection
from ottla.dump.statistics import LogStatistics, gather
from ottla.dump.verification import verify_file
from ottla.model import Offset, TimestampMs
from ottla.runtime.system_disk import SystemDisk
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record

DISK = ReadonlyDisk(SystemDisk())
NOON_MS = 1_700_000_000_000
LOG = "00000000000000000000.log"

SomeRow = TypeVar("SomeRow")


def record(
    offset: int, key: bytes | None = b"k", value: bytes | None = b"v", *, after_ms: int = 0
) -> Record:
    return Record(Offset(offset), TimestampMs(NOON_MS + after_ms), key, value)


def plain_batches(count: int, *, size: int = 3) -> list[bytearray]:
    """Batches of so many records each, offsets from 0 on, a second between records."""
    return [
        build_batch(
            [
                record(offset, b"key-%d" % offset, after_ms=1000 * offset)
                for offset in range(number * size, (number + 1) * size)
            ]
        )
        for number in range(count)
    ]


def write_log(directory: Path, batches: Iterable[bytes | bytearray], *, name: str = LOG) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_bytes(b"".join(batches))
    return path


def rows_of(path: Path, reading: Reading | None = None) -> list[Row]:
    file = recognise(str(path))
    assert file is not None
    return list(read_rows(DISK, file, reading or Reading()))


def only(rows: Iterable[object], row_type: type[SomeRow]) -> list[SomeRow]:
    return [row for row in rows if isinstance(row, row_type)]


def verified(path: Path) -> tuple[list[str], Verdict]:
    """The problems of a file, and the verdict."""
    file = recognise(str(path))
    assert file is not None
    *problems, verdict = verify_file(DISK, file)
    assert isinstance(verdict, Verdict)
    assert verdict.problems == len(problems)
    return [problem.reason for problem in only(problems, Problem)], verdict


def statistics_of(path: Path) -> tuple[LogStatistics, list[Row]]:
    """The statistics of a log, and the problems that came up."""
    file = recognise(str(path))
    assert file is not None
    statistics = LogStatistics()
    return statistics, list(gather(DISK, file, Selection(), statistics))

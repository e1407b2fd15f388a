"""The log: appending, reading, recovering, finding."""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks.figure import Figure
from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log.offset_lookup import find_offset
from ottla.storage.log_config import LogConfig
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record

GB = 1_000_000_000
PARTITION = TopicPartition("bench", 0)
LARGE = LogConfig(max_message_bytes=2 << 20)


class _NoCheckpoints:
    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        """Nothing here outlives the benchmark."""


def run() -> Iterator[Figure]:
    with _log_directory() as directory:
        log = _open(directory, LARGE)
        yield from _append_large(log)
        yield from _read(log)
        log.abandon()
        yield from _recover(directory, "1 MB batches")
    with _log_directory() as directory:
        log = _open(directory, LARGE)
        yield from _append_small(log)
        log.abandon()
    with _log_directory() as directory:
        log = _open(directory, LARGE)
        batch = _batch(16, 1_000)
        while log.segments.size < GB // 4:
            log.append_as_leader(batch, leader_epoch=0, now_ms=1_000)
        log.abandon()
        yield from _recover(directory, "16 KB batches")
    with _log_directory() as directory:
        yield from _look_up(_open(directory, LogConfig(segment_bytes=64 * 1024)))


def _append_large(log: Log) -> Iterator[Figure]:
    batch = _batch(1_000, 1_000)
    count = GB // len(batch)
    spent = _measure(lambda: _repeat(log, batch, count))
    yield Figure(
        "append 1 MB batches: user CPU per GB",
        spent.user,
        "s/GB",
        bound="< 0.3 s/GB",
        holds=spent.user < 0.3,
    )
    yield Figure("append 1 MB batches: CPU per GB, kernel included", spent.cpu, "s/GB")
    yield Figure("append 1 MB batches", GB / spent.wall / 1e6, "MB/s")


def _append_small(log: Log) -> Iterator[Figure]:
    batch = _batch(1, 100)
    count = 200_000
    spent = _measure(lambda: _repeat(log, batch, count))
    yield Figure("append one 100 B record: user CPU", spent.user / count * 1e6, "µs")
    yield Figure("append one 100 B record", count / spent.wall, "appends/s")


def _read(log: Log) -> Iterator[Figure]:
    spent = _measure(lambda: _read_all(log))
    yield Figure("read in 1 MB fetches: CPU per GB, kernel included", spent.cpu, "s/GB")
    yield Figure("read in 1 MB fetches", log.segments.size / spent.wall / 1e6, "MB/s")


def _recover(directory: str, what: str) -> Iterator[Figure]:
    sizes: list[int] = []
    spent = _measure(lambda: sizes.append(_open(directory, LARGE).segments.size))
    speed = sizes[0] / spent.cpu / 1e6
    yield Figure(
        f"recover an unclean log of {what}: per CPU second",
        speed,
        "MB/s",
        bound="> 500 MB/s",
        holds=speed > 500,
    )


def _look_up(log: Log) -> Iterator[Figure]:
    batch_size = 60
    while len(log.segments) <= 1_000:
        time_ms = 1_000 + log.log_end_offset
        log.append_as_leader(_batch(batch_size, 100, time_ms), leader_epoch=0, now_ms=10**9)
    end = log.log_end_offset
    offsets = [(number * 7_919) % end for number in range(20_000)]
    log.advance_high_watermark(end)

    def by_offset() -> None:
        for offset in offsets:
            log.read(offset, bytes_max=1, upper_offset=end)

    def by_time() -> None:
        for offset in offsets[:200]:
            find_offset(log, 1_000 + offset)

    by_offset()  # Once for the page cache, once for the clock.
    spent = _measure(by_offset)
    yield Figure("find an offset among 1,000 segments", spent.wall / len(offsets) * 1e6, "µs")
    by_time()
    spent = _measure(by_time)
    yield Figure("find a timestamp among 1,000 segments", spent.wall / 200 * 1e6, "µs")


class _Spent:
    def __init__(self, *, wall: float, user: float, system: float) -> None:
        self.wall, self.user, self.cpu = wall, user, user + system


def _measure(work: Callable[[], object]) -> _Spent:
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    work()
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    return _Spent(
        wall=wall, user=after.ru_utime - before.ru_utime, system=after.ru_stime - before.ru_stime
    )


def _repeat(log: Log, batch: bytearray, count: int) -> None:
    for _ in range(count):
        log.append_as_leader(batch, leader_epoch=0, now_ms=1_000)


def _read_all(log: Log) -> None:
    offset, end = 0, log.log_end_offset
    while found := log.read(offset, bytes_max=1_000_000, upper_offset=end):
        found.read()
        located = log.segments.starting_with(offset)[0].locate(offset)
        assert located is not None
        offset = located.header.next_offset


def _batch(count: int, value_size: int, timestamp: int = 1_000) -> bytearray:
    return build_batch(
        [
            Record(Offset(number), TimestampMs(timestamp), b"k%d" % number, b"v" * value_size)
            for number in range(count)
        ]
    )


def _open(directory: str, config: LogConfig) -> Log:
    return open_log(
        SystemDisk(), directory, PARTITION, config, recovery_points=_NoCheckpoints(), now_ms=0
    )


@contextmanager
def _log_directory() -> Iterator[str]:
    directory = tempfile.mkdtemp(prefix="ottla-bench-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory)

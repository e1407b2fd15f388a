"""Compaction: records per second of a whole run, both passes, on one core."""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.figure import Figure
from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.compaction import compact, plan_compaction, swap_in
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import LogConfig
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import Record

PARTITION = TopicPartition("bench", 0)
NOW_MS = 1_000_000
RECORDS = 100_000
REPETITIONS = 5
RECORDS_PER_SECOND_MIN = 300_000


def _four_of_five_go(number: int) -> bytes:
    return b"key-%010d" % (number % (RECORDS // 5))


def _nothing_goes(number: int) -> bytes:
    return b"key-%010d" % number


def _half_of_each_batch_goes(number: int) -> bytes:
    return _nothing_goes(number if number % 2 else number % 1_000)


def _uuid(number: int) -> bytes:
    return b"%08x-6d2e-4cbb-9f5e-0123456789ab" % (number % (RECORDS // 5))


def _long_key(number: int) -> bytes:
    return b"%0100d" % (number % (RECORDS // 5))


@dataclass(frozen=True, slots=True)
class Load:
    """A log of records of some 150 bytes."""

    name: str
    key: Callable[[int], bytes]
    codec: Codec = Codec.NONE
    records_per_batch: int = 100
    is_bound: bool = True


LOADS = (
    Load("uncompressed, 4 of 5 records go", _four_of_five_go),
    Load("lz4, 4 of 5 records go", _four_of_five_go, Codec.LZ4),
    Load("uncompressed, nothing goes", _nothing_goes),
    Load("lz4, nothing goes", _nothing_goes, Codec.LZ4),
    Load("uncompressed, half of each batch goes", _half_of_each_batch_goes),
    Load("lz4, half of each batch goes", _half_of_each_batch_goes, Codec.LZ4),
    Load("keys are UUIDs in text", _uuid),
    Load("keys of 100 bytes", _long_key, is_bound=False),
    Load("one record a batch", _four_of_five_go, records_per_batch=1, is_bound=False),
)


class _NoCheckpoints:
    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        """Nothing here outlives the benchmark."""


def run() -> Iterator[Figure]:
    for load in LOADS:
        with _directory() as directory:
            yield _measure(_filled(directory, load), load)


def _measure(log: Log, load: Load) -> Figure:
    plan = plan_compaction(log, first_dirty_offset=0, now_ms=NOW_MS)
    assert plan is not None
    spent = []
    for _ in range(REPETITIONS):
        start = _cpu_seconds()
        result = compact(log.disk, plan)
        spent.append(_cpu_seconds() - start)
    start = _cpu_seconds()
    assert swap_in(log, result, now_ms=NOW_MS)
    # The best of some: others use this machine, too.
    speed = result.records_read / (min(spent) + _cpu_seconds() - start)
    log.abandon()
    return Figure(
        f"compaction, {load.name}",
        speed,
        "records/s",
        bound=f">= {RECORDS_PER_SECOND_MIN:,} records/s" if load.is_bound else "",
        holds=not load.is_bound or speed >= RECORDS_PER_SECOND_MIN,
    )


def _filled(directory: str, load: Load) -> Log:
    config = LogConfig(compact=True, segment_bytes=16 << 20, max_message_bytes=2 << 20)
    log = open_log(
        SystemDisk(),
        directory,
        PARTITION,
        config,
        recovery_points=_NoCheckpoints(),
        now_ms=NOW_MS,
        had_clean_shutdown=True,
    )
    for first in range(0, RECORDS, load.records_per_batch):
        records = [
            Record(
                Offset(number),
                TimestampMs(NOW_MS + number),
                load.key(first + number),
                b"value %010d " % (first + number) * 7,
            )
            for number in range(load.records_per_batch)
        ]
        log.append_as_leader(build_batch(records, codec=load.codec), leader_epoch=0, now_ms=NOW_MS)
    log.roll(now_ms=NOW_MS)
    log.advance_high_watermark(log.log_end_offset)
    log.flush()
    return log


def _cpu_seconds() -> float:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


@contextmanager
def _directory() -> Iterator[str]:
    directory = tempfile.mkdtemp(prefix="ottla-bench-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory)

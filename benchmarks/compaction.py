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
from ottla.storage.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_loading import open_log
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import Record

PARTITION = TopicPartition("bench", 0)
NOW_MS = 1_000_000
RECORDS = 300_000
RECORDS_PER_SECOND_MIN = 300_000


@dataclass(frozen=True, slots=True)
class Load:
    """A log of records of some 150 bytes, each of a key that comes up again after `keys` others."""

    name: str
    codec: Codec = Codec.NONE
    keys: int = 60_000
    records_per_batch: int = 100
    key: Callable[[int], bytes] = lambda number: b"key-%010d" % number
    is_bound: bool = True


LOADS = (
    Load("uncompressed, 4 of 5 records go"),
    Load("lz4, 4 of 5 records go", codec=Codec.LZ4),
    Load("uncompressed, nothing goes", keys=RECORDS),
    Load("lz4, nothing goes", codec=Codec.LZ4, keys=RECORDS),
    Load("lz4, half of every batch goes", codec=Codec.LZ4, keys=RECORDS - 50),
    Load("keys are UUIDs in text", key=lambda number: b"%08x-1111-2222-3333-0123456789ab" % number),
    Load("keys of 100 bytes", key=lambda number: b"%0100d" % number, is_bound=False),
    Load("10 records a batch", records_per_batch=10, is_bound=False),
    Load("1 record a batch", records_per_batch=1, is_bound=False),
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
    start = _cpu_seconds()
    result = compact(log.disk, plan)
    assert swap_in(log, result, now_ms=NOW_MS)
    speed = result.records_read / (_cpu_seconds() - start)
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
                load.key((first + number) % load.keys),
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

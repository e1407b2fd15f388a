"""Record batches: headers, walking, building, columns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from benchmarks.figure import Figure
from ottla.client.producing.batch import BatchFormat, ProducerBatch, ProducerIdentity
from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.model import Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.runtime.allocator import keep_freed_memory
from ottla.wire.records.batch import read_body, validate_batch
from ottla.wire.records.builder import build_batch
from ottla.wire.records.columns import decode_columns
from ottla.wire.records.header import read_header
from ottla.wire.records.record import Record, iterate_records, walk_records
from ottla.wire.records.record_bodies import Payloads
from ottla.wire.records.row_batches import cut_batches

SECONDS = 0.5
ROUNDS = 3
BATCH_BYTES = 512 * 1024


def run() -> Iterator[Figure]:
    keep_freed_memory()
    records = [
        Record(Offset(number), TimestampMs(1_000_000 + number), b"key-%06d" % number, b"v" * 180)
        for number in range(5_000)
    ]
    small, large = build_batch(records[:75]), build_batch(records)
    header, body = read_header(large), read_body(large, 0, read_header(large))
    yield Figure("read a header", _seconds(lambda: read_header(small)) * 1e6, "µs")
    yield Figure("validate 16 KB with its CRC", _seconds(lambda: validate_batch(small)) * 1e6, "µs")
    for name, seconds in (
        ("walk", _seconds(lambda: sum(1 for _ in walk_records(body, header.record_count)))),
        ("iterate", _seconds(lambda: sum(1 for _ in iterate_records(large)))),
        ("build", _seconds(lambda: build_batch(records))),
    ):
        yield Figure(f"{name} 200 B records", len(records) / seconds, "records/s")
    for name, batches, count in (
        ("1 MB batch", [large], len(records)),
        ("1 MB of 16 KB batches", [small] * 66, 66 * 75),
    ):
        speed = count / _seconds(lambda batches=batches: decode_columns(batches))  # type: ignore[misc]
        yield Figure(
            f"columns of a {name}, 200 B records",
            speed,
            "records/s",
            bound="> 2,000,000",
            holds=speed > 2_000_000,
        )
    rows = columns_of(records)
    speed = len(records) / _seconds(lambda: seal_columns(rows))
    yield Figure(
        "batches of Arrow's columns for 4 partitions, 200 B records",
        speed,
        "records/s",
        bound="> 2,000,000",
        holds=speed > 2_000_000,
    )


def columns_of(records: Sequence[Record]) -> Payloads:
    keys = pa.array([record.key for record in records], pa.binary())
    return Payloads(keys, pa.array([record.value for record in records], pa.binary()), None, None)


def seal_columns(rows: Payloads) -> int:
    """As the sink does it: partitions by keys, batches by partition. Returns the bytes of all."""
    sizes = rows.sizes_max()
    partitioner = ColumnPartitioner(first=0, batch_bytes=BATCH_BYTES)
    targets = partitioner.partitions(rows.keys, None, sizes, count=4)
    how, partition = BatchFormat(is_transactional=True), TopicPartition("t", 0)
    identity = ProducerIdentity(ProducerId(1), ProducerEpoch(0))
    found = 0
    batches = cut_batches(rows, targets, sizes, batch_bytes_max=BATCH_BYTES)
    for rows_of_one in batches:
        batch = ProducerBatch.of_rows(partition, rows_of_one, 0, deadline=0.0)
        batch.seal(how, identity, 0)
        found += batch.size
    return found


def _seconds(work: Callable[[], object]) -> float:
    """Of one call, in the best of a few rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        calls, started = 0, time.perf_counter()
        while time.perf_counter() - started < SECONDS / ROUNDS:
            work()
            calls += 1
        best = min(best, (time.perf_counter() - started) / calls)
    return best

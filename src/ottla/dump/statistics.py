"""Statistics of a log, collected batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

from ottla.dump.files import KnownFile
from ottla.dump.log_rows import Batch, Watch, walk_log
from ottla.dump.reading import with_problems
from ottla.dump.rows import Row
from ottla.dump.selection import Selection
from ottla.model import NO_TIMESTAMP
from ottla.runtime.disk import Disk
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body
from ottla.wire.records.compression import Codec
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.header import HEADER_BYTES, BatchHeader, TimestampType
from ottla.wire.records.record import WalkedRecord, walk_records


@dataclass(slots=True)
class Amount:
    """The number and size of batches, their records, and their size when uncompressed."""

    batches: int = 0
    records: int = 0
    bytes: int = 0
    uncompressed_bytes: int = 0

    @property
    def compression_ratio(self) -> float:
        return self.uncompressed_bytes / self.bytes if self.bytes else 1.0

    def add(self, header: BatchHeader, uncompressed_bytes: int) -> None:
        self.batches += 1
        self.records += header.record_count
        self.bytes += header.size_in_bytes
        self.uncompressed_bytes += uncompressed_bytes


class SizeHistogram:
    """Counts sizes in buckets between powers of two."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, size: int) -> None:
        self._counts[size.bit_length()] += 1

    def buckets(self) -> list[tuple[int, int, int]]:
        """The smallest and the largest size of each bucket, both inclusive, and its count.

        Includes empty buckets between the first and the last.
        """
        if not self._counts:
            return []
        lengths = range(min(self._counts), max(self._counts) + 1)
        return [((1 << bits) >> 1, (1 << bits) - 1, self._counts[bits]) for bits in lengths]


@dataclass(slots=True)
class OffsetStatistics:
    """The offsets of the records. Offsets missing after compaction or a rollback are gaps."""

    first: int | None = None
    last: int | None = None
    gaps: int = 0
    missing: int = 0
    largest_gap: int = 0

    def add(self, offset: int) -> None:
        if self.last is None:
            self.first = offset
        elif offset > self.last + 1:
            gap = offset - self.last - 1
            self.gaps += 1
            self.missing += gap
            self.largest_gap = max(self.largest_gap, gap)
        self.last = offset


@dataclass(slots=True)
class Timestamps:
    """The earliest and the latest record timestamp."""

    first: int | None = None
    last: int | None = None

    def add(self, timestamp: int) -> None:
        if timestamp == NO_TIMESTAMP:
            return
        if self.first is None or timestamp < self.first:
            self.first = timestamp
        if self.last is None or timestamp > self.last:
            self.last = timestamp


@dataclass(slots=True)
class TransactionStatistics:
    """The number of committed and aborted transactions. `open_since` maps the producers of open
    transactions to their first offset; batches before the selection are not considered.
    """

    batches: int = 0
    committed: int = 0
    aborted: int = 0
    open_since: dict[int, int] = field(default_factory=dict)

    def add(self, header: BatchHeader, ends: list[ControlRecordType]) -> None:
        if not header.is_transactional:
            return
        if not header.is_control:
            self.batches += 1
            self.open_since.setdefault(header.producer_id, header.base_offset)
            return
        self.committed += ends.count(ControlRecordType.COMMIT)
        self.aborted += ends.count(ControlRecordType.ABORT)
        self.open_since.pop(header.producer_id, None)


class LogStatistics:
    """The statistics of one log, from one or many segments added in order.

    Memory use grows only with the number of producers.
    """

    def __init__(self) -> None:
        self.total = Amount()
        self.control = Amount()
        self.codecs: dict[Codec, Amount] = {}
        self.producers: dict[int, Amount] = {}
        self.batch_sizes = SizeHistogram()
        self.record_sizes = SizeHistogram()
        self.records_with_key = 0
        self.tombstones = 0
        self.transactions = TransactionStatistics()
        self.offsets = OffsetStatistics()
        self.timestamps = Timestamps()

    @property
    def records_without_key(self) -> int:
        return self.total.records - self.control.records - self.records_with_key

    def add(self, batch: Batch) -> None:
        """Adds a batch with a valid checksum. Raises `ProtocolError` for malformed records."""
        header = batch.header
        body = read_body(batch.data, 0, header)
        # Read all records before counting any, so that a malformed batch is not counted partially.
        records = list(walk_records(body, header.record_count))
        ends = [read_control_type(record[4]) for record in records if header.is_control]
        for amount in self._amounts_of(header):
            amount.add(header, HEADER_BYTES + len(body))
        self.batch_sizes.add(header.size_in_bytes)
        for record in records:
            self._add_record(header, record)
        self.transactions.add(header, ends)

    def _amounts_of(self, header: BatchHeader) -> Iterator[Amount]:
        yield self.total
        yield self.codecs.setdefault(header.codec, Amount())
        if header.is_control:
            yield self.control
        if header.has_producer_id:
            yield self.producers.setdefault(header.producer_id, Amount())

    def _add_record(self, header: BatchHeader, record: WalkedRecord) -> None:
        start, end, timestamp_delta, offset_delta, key, value_is_null, _ = record
        self.offsets.add(header.base_offset + offset_delta)
        if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
            self.timestamps.add(header.max_timestamp)
        else:
            self.timestamps.add(header.base_timestamp + timestamp_delta)
        if not header.is_control:
            self.record_sizes.add(end - start)
            self.records_with_key += key is not None
            self.tombstones += value_is_null and key is not None


def gather(
    disk: Disk,
    file: KnownFile,
    selection: Selection,
    statistics: LogStatistics,
    watch: Watch | None = None,
) -> Iterator[Row]:
    """Adds a log's batches to the statistics. Yields a problem for each malformed batch."""
    return with_problems(_gather(disk, file, selection, statistics, watch))


def _gather(
    disk: Disk,
    file: KnownFile,
    selection: Selection,
    statistics: LogStatistics,
    watch: Watch | None,
) -> Iterator[Row]:
    with closing(disk.open_readonly(file.path)) as log:
        for batch in walk_log(log, selection, watch):
            problem = batch.checksum_problem(file.path)
            if problem is not None:
                yield problem
                continue
            try:
                statistics.add(batch)
            except ProtocolError as error:
                yield batch.problem(file.path, f"cannot be read to its end: {error}")

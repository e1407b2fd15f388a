"""Numbers about a log, gathered batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ottla.dump.log_rows import Batch
from ottla.model import NO_TIMESTAMP
from ottla.wire.records.batch import read_body
from ottla.wire.records.compression import Codec
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.header import HEADER_BYTES, BatchHeader, TimestampType
from ottla.wire.records.record import walk_records


@dataclass(slots=True)
class Amount:
    """Batches, what is in them, and what they would take uncompressed."""

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


class Histogram:
    """How many sizes fall between two powers of two."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, size: int) -> None:
        self._counts[size.bit_length()] += 1

    def buckets(self) -> list[tuple[int, int, int]]:
        """The smallest and the largest size of each bucket, both inclusive, and its count.

        Buckets between the first and the last are there even if they are empty.
        """
        if not self._counts:
            return []
        lengths = range(min(self._counts), max(self._counts) + 1)
        return [((1 << bits) >> 1, (1 << bits) - 1, self._counts[bits]) for bits in lengths]


@dataclass(slots=True)
class Offsets:
    """The offsets that records have. What compaction or a rollback left out is a gap."""

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
class Transactions:
    """How transactions ended. `open_since` has the first offset of each that has not, by producer;
    of one that began before the first batch looked at, only the end is known."""

    committed: int = 0
    aborted: int = 0
    transactional_batches: int = 0
    open_since: dict[int, int] = field(default_factory=dict)


class LogStatistics:
    """The statistics of one log, of one segment or many, added in order.

    Memory grows with the number of producers, and with nothing else.
    """

    def __init__(self) -> None:
        self.total = Amount()
        self.control = Amount()
        self.corrupt_batches = 0
        self.codecs: dict[Codec, Amount] = {}
        self.producers: dict[int, Amount] = {}
        self.batch_sizes = Histogram()
        self.record_sizes = Histogram()
        self.records_with_key = 0
        self.tombstones = 0
        self.transactions = Transactions()
        self.offsets = Offsets()
        self.first_timestamp: int | None = None
        self.last_timestamp: int | None = None

    def add(self, batch: Batch) -> None:
        """Adds a batch that has the right checksum; `ProtocolError` if its records are none."""
        header = batch.header
        body = read_body(batch.data, 0, header)
        # Walked to the end before anything is counted, so that a bad batch leaves no trace.
        records = list(walk_records(body, header.record_count))
        uncompressed = HEADER_BYTES + len(body)
        amounts = [self.total, self.codecs.setdefault(header.codec, Amount())]
        if header.has_producer_id:
            amounts.append(self.producers.setdefault(header.producer_id, Amount()))
        if header.is_control:
            amounts.append(self.control)
        for amount in amounts:
            amount.add(header, uncompressed)
        self.batch_sizes.add(header.size_in_bytes)
        for start, end, timestamp_delta, offset_delta, key, value_is_null, _ in records:
            self.offsets.add(header.base_offset + offset_delta)
            self._add_timestamp(header, timestamp_delta)
            if header.is_control:
                self._end_transaction(header, key)
            else:
                self.record_sizes.add(end - start)
                self.records_with_key += key is not None
                self.tombstones += value_is_null and key is not None
        if header.is_transactional and not header.is_control:
            self.transactions.transactional_batches += 1
            self.transactions.open_since.setdefault(header.producer_id, header.base_offset)

    def _add_timestamp(self, header: BatchHeader, delta: int) -> None:
        if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
            timestamp = int(header.max_timestamp)
        else:
            timestamp = header.base_timestamp + delta
        if timestamp == NO_TIMESTAMP:
            return
        if self.first_timestamp is None or timestamp < self.first_timestamp:
            self.first_timestamp = timestamp
        if self.last_timestamp is None or timestamp > self.last_timestamp:
            self.last_timestamp = timestamp

    def _end_transaction(self, header: BatchHeader, key: bytes | None) -> None:
        kind = read_control_type(key)
        if kind is ControlRecordType.COMMIT:
            self.transactions.committed += 1
        elif kind is ControlRecordType.ABORT:
            self.transactions.aborted += 1
        self.transactions.open_since.pop(header.producer_id, None)

"""Decides what compaction keeps of each batch.

A record is kept if it is the newest of its key, unless it is a tombstone past its delete horizon.
The first compaction that reads a tombstone sets the delete horizon (KIP-534). It replaces the
batch's base timestamp, so every record's timestamp delta is rewritten. A marker whose transaction
has no batches left gets a delete horizon too.

A batch without records is removed, unless it is needed for a producer's sequence numbers or for the
end offset of a segment. Then its header stays. A marker that is needed stays whole, because a
follower that was offline may have records of its transaction and must learn the outcome. Kafka
empties such markers, so a follower never learns it. Kafka only records how far the whole compaction
reached; here every segment ends where the next one begins, so that recovery can detect a missing
segment. Batches that are kept whole are copied byte for byte.

So are data batches with a valid checksum and unreadable records, which a faulty producer wrote.
Kafka's cleaner gives up on such a partition until the broker restarts, and its log grows without
limit. Keeping the batch loses nothing, and the rest of the log is still compacted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from ottla.model import NO_TIMESTAMP, Buffer, TimestampMs
from ottla.storage.compaction.offset_map import KEY_BYTES_MAX, OffsetMap, key_identity
from ottla.storage.compaction.plan import CompactionPlan
from ottla.storage.compaction.result import UnreadableBatch
from ottla.storage.compaction.transaction_walk import TransactionWalk
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body
from ottla.wire.records.builder import empty_batch, seal_batch, shift_timestamp
from ottla.wire.records.header import DELETE_HORIZON_FLAG, BatchHeader, TimestampType
from ottla.wire.records.record import walk_records

# How many unreadable batches the broker's log lists.
_UNREADABLE_LISTED_MAX: Final = 10

_TIMESTAMP_MIN: Final = -(2**63)
_TIMESTAMP_MAX: Final = 2**63 - 1


class BatchFilter:
    """Filters every batch of the compacted part, in order. Raises `ProtocolError` for an unreadable
    marker: the outcome of a transaction must not be guessed."""

    def __init__(
        self, plan: CompactionPlan, offset_map: OffsetMap, *, end_offsets: Collection[int]
    ) -> None:
        self.records_read = 0
        self.records_kept = 0
        self.unreadable_count = 0
        # The first unreadable batches.
        self.unreadable: list[UnreadableBatch] = []
        # The transaction index entry to keep for the latest batch.
        self.aborted: AbortedTransaction | None = None
        self._plan = plan
        self._map = offset_map
        # The end offsets of the cleaned segments.
        self._end_offsets = frozenset(end_offsets)
        self._transactions = TransactionWalk(plan.aborted_transactions)
        self._delete_horizon_ms = TimestampMs(
            min(plan.now_ms + plan.config.delete_retention_ms, _TIMESTAMP_MAX)
        )

    def filter(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        """Returns the batch itself, a smaller replacement, or None."""
        self.records_read += header.record_count
        self.aborted = None
        if header.is_control:
            kept = self._filter_marker(batch, header)
        elif self._transactions.meet_data(header):
            kept = None
        else:
            kept = self._filter_data(batch, header)
        if kept is None and self._is_remembered(header):
            return empty_batch(header)
        return kept

    def _filter_marker(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        marker = self._transactions.meet_marker(header, batch)
        self.aborted = marker.aborted
        if not header.record_count:
            return None
        is_over = marker.is_orphan and self._is_past_horizon(header)
        if is_over and not self._is_remembered(header):
            return None
        self.records_kept += header.record_count
        if not marker.is_orphan or header.has_delete_horizon:
            return batch
        return self._marked(header, read_body(batch, 0, header)) or batch

    def _filter_data(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        try:
            return self._filter_records(batch, header)
        except ProtocolError as error:
            self.records_kept += header.record_count
            self.unreadable_count += 1
            if len(self.unreadable) < _UNREADABLE_LISTED_MAX:
                self.unreadable.append(
                    UnreadableBatch(header.base_offset, header.last_offset, str(error))
                )
            return batch

    def _filter_records(self, batch: Buffer, header: BatchHeader) -> Buffer | None:
        kept = self._choose(read_body(batch, 0, header), header)
        self.records_kept += kept.record_count
        if not kept.record_count:
            return None
        if kept.has_tombstones and not header.has_delete_horizon:
            marked = self._marked(_header_of(header, kept), kept.body)
            if marked is not None:
                return marked
        if kept.record_count == header.record_count:
            return batch
        return seal_batch(_header_of(header, kept), kept.body)

    def _choose(self, body: bytes, header: BatchHeader) -> _KeptRecords:
        newest_offset = self._map.offsets.get
        base_offset, last_offset_delta = header.base_offset, header.last_offset_delta
        # Records above the map's range are all kept.
        covered_delta = self._map.latest_offset - base_offset
        drops_tombstones = self._is_past_horizon(header)
        has_tombstones = False
        timestamp_delta_max = _TIMESTAMP_MIN
        # Adjacent kept records are copied together.
        runs, run_start, count = [], 0, header.record_count
        for start, end, timestamp_delta, offset_delta, key, is_tombstone, _ in walk_records(
            body, count
        ):
            if offset_delta > last_offset_delta:
                raise ProtocolError(
                    f"a record has the offset delta {offset_delta}, which is outside of its batch"
                )
            if offset_delta <= covered_delta:
                if key is not None and len(key) > KEY_BYTES_MAX:
                    key = key_identity(key)
                if (
                    key is None
                    or newest_offset(key, -1) > base_offset + offset_delta
                    or (is_tombstone and drops_tombstones)
                ):
                    runs.append(body[run_start:start])
                    run_start = end
                    count -= 1
                    continue
            if is_tombstone:
                has_tombstones = True
            if timestamp_delta > timestamp_delta_max:
                timestamp_delta_max = timestamp_delta
        if run_start:
            body = b"".join([*runs, body[run_start:]])
        return _KeptRecords(body, count, timestamp_delta_max, has_tombstones)

    def _marked(self, header: BatchHeader, body: bytes) -> Buffer | None:
        """The batch with a delete horizon, or None if a timestamp delta would not fit its field."""
        horizon_ms = self._delete_horizon_ms
        by_ms = header.base_timestamp - horizon_ms
        records = walk_records(body, header.record_count)
        try:
            shifted = [shift_timestamp(body[each[0] : each[1]], by_ms=by_ms) for each in records]
        except ValueError:
            return None
        marked = header._replace(
            attributes=header.attributes | DELETE_HORIZON_FLAG, base_timestamp=horizon_ms
        )
        return seal_batch(marked, b"".join(shifted))

    def _is_past_horizon(self, header: BatchHeader) -> bool:
        horizon_ms = header.delete_horizon_ms
        return horizon_ms is not None and horizon_ms <= self._plan.now_ms

    def _is_remembered(self, header: BatchHeader) -> bool:
        """Whether the batch's header is kept without records."""
        if header.next_offset in self._end_offsets:
            return True
        last = self._plan.last_batches.get(header.producer_id)
        if last is None or not header.has_producer_id:
            return False
        if last.last_offset is not None:
            return header.last_offset == last.last_offset
        return header.is_control and header.producer_epoch == last.producer_epoch


class _KeptRecords(NamedTuple):
    """The records of a batch that are kept."""

    body: bytes
    record_count: int
    timestamp_delta_max: int
    has_tombstones: bool


def _header_of(header: BatchHeader, kept: _KeptRecords) -> BatchHeader:
    """The header for the kept records. Offsets and sequence numbers are those of the original
    batch."""
    max_timestamp = header.max_timestamp
    if header.timestamp_type is TimestampType.CREATE_TIME:
        latest = header.base_timestamp + kept.timestamp_delta_max
        max_timestamp = min(max_timestamp, TimestampMs(max(latest, NO_TIMESTAMP)))
    return header._replace(max_timestamp=max_timestamp, record_count=kept.record_count)

"""Reads records for share fetches, and locks them for the member."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.sharing.group_delivery import GroupDelivery
from ottla.broker.sharing.shared_partition import SharedPartition
from ottla.model import Buffer, ErrorCode, KafkaError
from ottla.replication.partition import PartitionRead
from ottla.replication.visible_read import ColdReadError
from ottla.shares.delivery import Acquired, BatchOffsets, Wish
from ottla.storage.batches.visible_batches import is_held_marker, visible_batches
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.wire.errors import ProtocolError
from ottla.wire.records import (
    ControlRecordType,
    iterate_batches,
    iterate_records,
    read_control_type,
    verify_crc,
)

# Read at once: more than most fetches can acquire, and copied in a fraction of a millisecond.
READ_BYTES_MAX: Final = 1 << 20
# Decoded record by record for their keys, which takes a few milliseconds.
_ORDERED_BYTES_MAX: Final = 64 << 10
# Reads that lock nothing, as when all records are of aborted transactions, are repeated.
_ATTEMPTS_MAX: Final = 8


class _Batch(NamedTuple):
    position: int
    end: int
    span: BatchOffsets
    is_control: bool
    # A marker in place of held batches, whose offsets have no records.
    is_held: bool


class ShareRead(NamedTuple):
    """Locked records, and the batches of the log that contain them."""

    records: Buffer
    acquired: Sequence[Acquired]

    @property
    def record_count(self) -> int:
        return sum(each.last - each.first + 1 for each in self.acquired)


def read_shared(
    shared: SharedPartition,
    wish: Wish,
    delivery: GroupDelivery,
    failures: StorageFailures,
    *,
    bytes_max: int,
    now: float,
) -> ShareRead | None:
    """Reads and locks records; None if there are none. Raises `KafkaError`, and `ColdReadError` if
    the disk would have to be waited for."""
    for _ in range(_ATTEMPTS_MAX):
        shared.follow_log_start()
        machine = shared.machine
        if not machine.can_acquire(now):
            return None
        order = shared.order
        offset = machine.next_offset(now)
        if order is not None:
            unknown = order.first_unknown()
            offset = offset if unknown is None else min(unknown, offset)
            bytes_max = min(bytes_max, _ORDERED_BYTES_MAX)
        found = look(shared, delivery, failures, offset, bytes_max=bytes_max)
        if found.records is None:
            return None
        data = found.records.read_cached()
        if data is None:
            assert isinstance(found.records, FileSlice)
            raise ColdReadError(found.records)
        if shared.partition.require_log().config.delays:
            data = visible_batches(data)
        batches = _batches_of(shared, data)
        if not batches:
            return None
        spans = [batch.span for batch in batches]
        if order is not None:
            order.learn(spans, _keys_of(data, batches))
            order.begin()
        acquired = machine.acquire(
            wish,
            spans,
            fetch_offset=offset,
            now=now,
            aborted=[
                *_aborted_spans(data, found.aborted_transactions),
                *(batch.span for batch in batches if batch.is_held),
            ],
            order=order,
        )
        if acquired:
            return ShareRead(_records_of(data, batches, acquired), acquired)
        if machine.next_offset(now) == offset and (order is None or order.first_unknown() is None):
            return None
    return None


def _batches_of(shared: SharedPartition, data: Buffer) -> list[_Batch]:
    """The complete batches. Their offsets become state, so their checksums are verified."""
    batches = []
    try:
        for at, header in iterate_batches(data):
            verify_crc(data, at, header)
            offsets = BatchOffsets(header.base_offset, header.last_offset)
            end, is_held = at + header.size_in_bytes, is_held_marker(header)
            batches.append(_Batch(at, end, offsets, header.is_control, is_held))
    except ProtocolError as error:
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"data of {shared.partition.name} that was read is corrupt: {error}",
        ) from error
    return batches


def _keys_of(data: Buffer, batches: Sequence[_Batch]) -> Iterator[tuple[int, bytes | None]]:
    for batch in batches:
        try:
            for record in iterate_records(data, batch.position):
                yield record.offset, None if batch.is_control else record.key
        except ProtocolError:
            # Such a batch is delivered as it is, without an order.
            continue


def look(
    shared: SharedPartition,
    delivery: GroupDelivery,
    failures: StorageFailures,
    offset: int,
    *,
    bytes_max: int,
) -> PartitionRead:
    with failures.translated(shared.partition):
        return shared.partition.read(
            offset,
            bytes_max=min(bytes_max, READ_BYTES_MAX),
            isolation=delivery.isolation,
            min_one_batch=True,
        )


def _records_of(data: Buffer, batches: Sequence[_Batch], acquired: Sequence[Acquired]) -> Buffer:
    """The bytes of the batches from the first to the last that has locked records."""
    first, last = acquired[0].first, acquired[-1].last
    begin = next(batch.position for batch in batches if batch.span.last >= first)
    end = max(batch.end for batch in batches if batch.span.first <= last)
    return memoryview(data)[begin:end]


def _aborted_spans(
    data: Buffer, aborted: Sequence[AbortedTransaction] | None
) -> Sequence[BatchOffsets]:
    """The batches of aborted transactions, as consumers find them: from the first offset of the
    transaction to its marker."""
    if not aborted:
        return ()
    coming = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
    open_ids: set[int] = set()
    spans = []
    for at, header in iterate_batches(data):
        if not header.has_producer_id:
            continue
        while coming and coming[-1].first_offset <= header.last_offset:
            open_ids.add(coming.pop().producer_id)
        if header.is_control:
            if _is_abort(data, at):
                open_ids.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in open_ids:
            spans.append(BatchOffsets(header.base_offset, header.last_offset))
    return spans


def _is_abort(data: Buffer, at: int) -> bool:
    try:
        record = next(iterate_records(data, at), None)
        key = None if record is None else record.key
        return key is not None and read_control_type(key) is ControlRecordType.ABORT
    except ProtocolError:
        return False

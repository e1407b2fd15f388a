"""Compactions for tests, and what a reader makes of a log."""

from __future__ import annotations

import pickle
from typing import NamedTuple

from ottla.storage.compaction import (
    CompactionPlan,
    CompactionResult,
    compact,
    plan_compaction,
    swap_in,
)
from ottla.storage.log.log import Log
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.record import Record, iterate_records
from tests.support.storage.log_checks import StoredBatch, all_batches, stored_batches
from tests.support.storage.logs import NOW_MS


class StoredRecord(NamedTuple):
    """A record with what its batch says of it."""

    record: Record
    batch: StoredBatch


def planned(
    log: Log, *, first_dirty_offset: int = 0, now_ms: int = NOW_MS, memory_bytes: int = 1 << 20
) -> CompactionPlan:
    """The plan, which has to be there, as a worker process would get it."""
    plan = plan_compaction(
        log, first_dirty_offset=first_dirty_offset, now_ms=now_ms, memory_bytes=memory_bytes
    )
    assert plan is not None, "nothing to compact"
    copy: CompactionPlan = pickle.loads(pickle.dumps(plan))
    assert copy == plan
    return copy


def compacted(
    log: Log, *, first_dirty_offset: int = 0, now_ms: int = NOW_MS, memory_bytes: int = 1 << 20
) -> CompactionResult:
    """Compacts all that can be, and swaps it in."""
    plan = planned(
        log, first_dirty_offset=first_dirty_offset, now_ms=now_ms, memory_bytes=memory_bytes
    )
    result: CompactionResult = pickle.loads(pickle.dumps(compact(log.disk, plan)))
    assert swap_in(log, result, now_ms=now_ms)
    return result


def commit_all(log: Log) -> None:
    """Everything is replicated; what transactions leave open stays so."""
    log.advance_high_watermark(log.log_end_offset)


def roll_and_commit(log: Log) -> None:
    log.roll(now_ms=NOW_MS)
    commit_all(log)


def stored_records(log: Log) -> list[StoredRecord]:
    """Every record that is not a control record, in the order of the log."""
    return [
        StoredRecord(record, batch)
        for batch in all_batches(log)
        if not batch.header.is_control
        for record in iterate_records(batch.data)
    ]


def offsets(log: Log) -> list[int]:
    return [record.offset for record, _ in stored_records(log)]


def committed_records(log: Log) -> list[Record]:
    """What a read_committed consumer gets, who knows aborted transactions from the log's indexes
    and from the markers that end them, as a client does."""
    end = log.last_stable_offset
    coming = sorted(
        log.aborted_transactions(
            fetch_offset=log.segments.first.base_offset, upper_bound_offset=end
        ),
        key=lambda transaction: transaction.first_offset,
    )
    aborting: set[int] = set()
    found = []
    for _, header, data in all_batches(log):
        if header.base_offset >= end:
            break
        while coming and coming[0].first_offset <= header.last_offset:
            aborting.add(coming.pop(0).producer_id)
        records = list(iterate_records(data))
        if header.is_control:
            if records and read_control_type(records[0].key) is ControlRecordType.ABORT:
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            found += records
    return found


def latest_values(log: Log) -> dict[bytes, tuple[int, bytes]]:
    """The offset and value of each key; a deleted one is as one that never was."""
    latest: dict[bytes, tuple[int, bytes] | None] = {}
    for record in committed_records(log):
        if record.key is not None:
            value = record.value
            latest[record.key] = None if value is None else (record.offset, value)
    return {key: found for key, found in latest.items() if found is not None}


def assert_indexes_agree(log: Log) -> None:
    """Segments follow each other, and each index agrees with its log file."""
    for segment in log.segments:
        batches = stored_batches(segment)
        segment.sanity_check()
        ends = {batch.position: batch.header.last_offset for batch in batches}
        for offset, position in segment.offset_index.entries():
            assert ends.get(position) == offset
        for position, header, _ in batches:
            located = segment.locate(header.last_offset)
            assert located is not None
            assert located.position == position
        timestamps = [batch.header.max_timestamp for batch in batches]
        assert segment.max_timestamp.timestamp == max(timestamps, default=-1)
        markers = {batch.header.base_offset for batch in batches if batch.header.is_control}
        for transaction in segment.transaction_index.entries():
            assert transaction.last_offset in markers
        following = log.segments.after(segment)
        if following is not None and batches:
            assert batches[-1].header.next_offset == following.base_offset
            assert segment.time_index.last_entry == segment.max_timestamp

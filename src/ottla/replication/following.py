"""How a follower applies fetch responses to its log.

The leader's log is authoritative. A diverging follower truncates its log to where both agree: the
leader returns the end offset of the follower's last epoch in the leader's log (KIP-595). If the
follower does not have the epoch that the leader returned, it truncates further back, and the next
fetch repeats the comparison. After a clean election, records below the high watermark are never
truncated.
"""

from __future__ import annotations

import logging

from ottla.model import Buffer
from ottla.replication.partition import Partition
from ottla.storage.epochs.epoch_cache import UNDEFINED_OFFSET, EpochEnd
from ottla.storage.log.log import Log
from ottla.wire.messages.fetch import FetchPartition, PartitionData
from ottla.wire.records.batch import iterate_batches

_log = logging.getLogger(__name__)


def fetch_position(partition: Partition, *, bytes_max: int) -> FetchPartition:
    """The partition's entry in the next fetch request."""
    log = partition.require_log()
    latest = log.epochs.latest_epoch
    return FetchPartition(
        partition=partition.name.partition,
        current_leader_epoch=partition.leader_epoch,
        fetch_offset=log.log_end_offset,
        last_fetched_epoch=-1 if latest is None else latest,
        log_start_offset=log.log_start_offset,
        partition_max_bytes=bytes_max,
    )


def apply_fetched(partition: Partition, fetched: PartitionData, *, now_ms: int) -> bool:
    """Appends fetched records and takes over the leader's high watermark and log start offset.
    Returns True if the log's start or end has changed: the next request has to contain it.

    Raises `KafkaError` for damaged batches, `OSError` if the disk fails.
    """
    log = partition.require_log()
    end, start = log.log_end_offset, log.log_start_offset
    if fetched.records:
        append_as_follower(log, fetched.records, leader_epoch=partition.leader_epoch, now_ms=now_ms)
    partition.follow_high_watermark(fetched.high_watermark)
    if fetched.log_start_offset > log.log_start_offset:
        log.delete_records_before(min(fetched.log_start_offset, log.high_watermark))
    return (log.log_end_offset, log.log_start_offset) != (end, start)


def append_as_follower(log: Log, records: Buffer, *, leader_epoch: int, now_ms: int) -> None:
    if log.log_end_offset == log.log_start_offset:
        # The leader's log start offset may be within a batch, and batches are sent whole.
        _, first = next(iterate_batches(records), (0, None))
        if (
            first is not None
            and first.leader_epoch <= leader_epoch
            and first.base_offset < log.log_end_offset < first.next_offset
        ):
            log.truncate_fully(first.base_offset, now_ms=now_ms)
    log.append_as_follower(records, leader_epoch=leader_epoch, now_ms=now_ms)


def truncate_to_agree(partition: Partition, leaders: EpochEnd, *, now_ms: int) -> None:
    """Truncates the log to the largest offset at which it may agree with the leader's log, given
    an epoch and its end offset in the leader's log."""
    log = partition.require_log()
    mine = log.epochs.end_offset_for(epoch=leaders.epoch, log_end_offset=log.log_end_offset)
    offset = leaders.end_offset
    if mine.end_offset != UNDEFINED_OFFSET:
        # If this log does not have that epoch, it truncates to the end of the greatest lower one,
        # and the next fetch compares again.
        offset = mine.end_offset if mine.epoch != leaders.epoch else min(mine.end_offset, offset)
    _log.info(
        "truncating %s from %d to %d: the leader's epoch %d ended at %d",
        partition.name,
        log.log_end_offset,
        offset,
        leaders.epoch,
        leaders.end_offset,
    )
    if offset < log.high_watermark:
        _log.warning(
            "truncating %s below its high watermark %d", partition.name, log.high_watermark
        )
    log.truncate_to(offset, now_ms=now_ms)


def restart_in_range(
    partition: Partition, *, leader_start: int, leader_end: int, now_ms: int
) -> None:
    """Truncates the log after OFFSET_OUT_OF_RANGE, so that the next fetch is in range."""
    log = partition.require_log()
    if leader_end < log.log_end_offset:
        # An unclean election: the leader was not in the ISR and its log is shorter.
        log.truncate_to(leader_end, now_ms=now_ms)
    elif leader_start > log.log_end_offset:
        # The leader has deleted everything that this log contains.
        log.truncate_fully(leader_start, now_ms=now_ms)

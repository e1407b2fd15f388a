"""What a follower does to its log with what its leader answers.

The leader's log is the truth. Where the follower's has gone another way, it is cut back to where
both still agree: the leader tells where the follower's last epoch ended in its own log (KIP-595),
and if the follower does not know the epoch that is left, the next fetch asks again from further
back. What is below the high watermark is never cut after a clean election.
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
    """What to ask the leader for next."""
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
    """Appends what was fetched and takes over the leader's offsets. Says if the log has moved, so
    that the leader has to hear of it.

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
        # The leader's log may start within a batch, and its batches come whole.
        _, first = next(iterate_batches(records), (0, None))
        if (
            first is not None
            and first.leader_epoch <= leader_epoch
            and first.base_offset < log.log_end_offset < first.next_offset
        ):
            log.truncate_fully(first.base_offset, now_ms=now_ms)
    log.append_as_follower(records, leader_epoch=leader_epoch, now_ms=now_ms)


def truncate_to_agree(partition: Partition, leaders: EpochEnd, *, now_ms: int) -> None:
    """Cuts the log where it surely differs from that of the leader, in which an epoch that this
    log has ended as it says."""
    log = partition.require_log()
    mine = log.epochs.end_offset_for(epoch=leaders.epoch, log_end_offset=log.log_end_offset)
    offset = leaders.end_offset
    if mine.end_offset != UNDEFINED_OFFSET:
        # An epoch that is not known here is approached from below: the next fetch asks again.
        offset = mine.end_offset if mine.epoch != leaders.epoch else min(mine.end_offset, offset)
    _log.info(
        "%s is cut from %d to %d: its leader's epoch %d ended at %d",
        partition.name,
        log.log_end_offset,
        offset,
        leaders.epoch,
        leaders.end_offset,
    )
    if offset < log.high_watermark:
        _log.warning("%s is cut below its high watermark %d", partition.name, log.high_watermark)
    log.truncate_to(offset, now_ms=now_ms)


def restart_in_range(
    partition: Partition, *, leader_start: int, leader_end: int, now_ms: int
) -> None:
    """Makes the next fetch one that the leader can answer, after it was out of range."""
    log = partition.require_log()
    if leader_end < log.log_end_offset:
        # The leader was elected from outside the ISR and has less.
        log.truncate_to(leader_end, now_ms=now_ms)
    elif leader_start > log.log_end_offset:
        # All of this is gone at the leader.
        log.truncate_fully(leader_start, now_ms=now_ms)

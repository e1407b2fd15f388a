"""The read side of a partition's replica: reads, leader epoch checks, and waiting fetches.

It is the same for a leader and a follower: both have a log, a high watermark, a leader and a leader
epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.model import ErrorCode, KafkaError, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.replication.fetch_waiters import FetchWaiters
from ottla.replication.partition_read import Isolation, PartitionRead
from ottla.replication.topic_traffic import TopicTraffic
from ottla.storage.epochs.epoch_cache import UNDEFINED_EPOCH_END, UNDEFINED_OFFSET, EpochEnd
from ottla.storage.log.log import Log
from ottla.wire.messages.fetch import FetchPartition

# More than any fetch's min.bytes.
ENOUGH_BYTES: Final = 2**31


class ReadablePartition:
    """The base of `Partition`. `log` is None while its log directory is offline."""

    __slots__ = (
        "_appended",
        "_committed",
        "is_leader",
        "leader",
        "leader_epoch",
        "log",
        "name",
        "topic_id",
        "traffic",
    )

    def __init__(
        self, name: TopicPartition, topic_id: Uuid, *, leader: NodeId, leader_epoch: LeaderEpoch
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.is_leader = True
        self.log: Log | None = None
        # Replaced by that of the topic when the partition is added to a node's partitions.
        self.traffic = TopicTraffic()
        self._appended = FetchWaiters()
        self._committed = FetchWaiters()

    def read(
        self, offset: int, *, bytes_max: int, isolation: Isolation, min_one_batch: bool
    ) -> PartitionRead:
        """Reads for a consumer, up to the high watermark or the last stable offset. A follower can
        serve it too (KIP-392)."""
        log = self.require_log()
        stable = log.last_stable_offset
        upper = stable if isolation is Isolation.READ_COMMITTED else log.high_watermark
        records = log.read(
            offset, bytes_max=bytes_max, upper_offset=upper, min_one_batch=min_one_batch
        )
        aborted = None
        if isolation is Isolation.READ_COMMITTED:
            aborted = (
                []
                if records is None
                else log.aborted_transactions(
                    fetch_offset=offset, upper_bound_offset=upper, records=records
                )
            )
        return PartitionRead(records, log.high_watermark, stable, log.log_start_offset, aborted)

    def epoch_end(self, epoch: int) -> EpochEnd:
        """The greatest epoch in this log that is not above `epoch`, and its end offset (KIP-101).

        The current leader epoch counts even before its first record is appended.
        """
        log = self.require_log()
        latest, current = log.epochs.latest_epoch, self.leader_epoch
        if latest is not None and not latest < epoch <= current:
            return log.epochs.end_offset_for(epoch=epoch, log_end_offset=log.log_end_offset)
        if not 0 <= epoch <= current:
            return UNDEFINED_EPOCH_END
        known = epoch if latest is None or epoch == current else latest
        return EpochEnd(known, log.log_end_offset)

    def divergence(self, fetch: FetchPartition) -> EpochEnd | None:
        """The end of the follower's last epoch in this log, if the follower's log diverges from it
        (KIP-595); None if it does not."""
        epoch, offset = fetch.last_fetched_epoch, fetch.fetch_offset
        if epoch < 0:
            return None
        log, end = self.require_log(), self.epoch_end(epoch)
        if end.end_offset == UNDEFINED_OFFSET or offset < log.log_start_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self.name} has offsets {log.log_start_offset} to {log.log_end_offset}, but not "
                f"offset {offset} after epoch {epoch}",
            )
        return end if end.epoch < epoch or end.end_offset < offset else None

    # ---- refusals

    def require_log(self) -> Log:
        if self.log is None:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the log directory of {self.name} is offline; see the node's log for the reason",
            )
        return self.log

    def require_leader(self) -> None:
        if not self.is_leader:
            raise self.not_leader()

    def not_leader(self) -> KafkaError:
        return KafkaError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            f"this node is not the leader of {self.name}; the last known leader is node "
            f"{self.leader}",
        )

    def check_leader_epoch(self, requested: int) -> None:
        """Raises if the request's leader epoch is not this node's (KIP-320); -1 is not checked."""
        if requested < 0 or requested == self.leader_epoch:
            return
        if requested < self.leader_epoch:
            raise KafkaError(
                ErrorCode.FENCED_LEADER_EPOCH,
                f"leader epoch {requested} of {self.name} is fenced; the current one is "
                f"{self.leader_epoch}",
            )
        raise KafkaError(
            ErrorCode.UNKNOWN_LEADER_EPOCH,
            f"leader epoch {requested} of {self.name} is not known yet; the current one "
            f"is {self.leader_epoch}",
        )

    # ---- waiting fetches

    def when_appended(self, owner: object, callback: Callable[[int], None]) -> None:
        """Calls `callback` with the size of each append, until `forget` with the same owner."""
        self._appended[owner] = callback

    def when_committed(self, owner: object, callback: Callable[[int], None]) -> None:
        """Calls `callback` when the high watermark advances, with at least the number of bytes that
        became visible, until `forget` with the same owner."""
        self._committed[owner] = callback

    def forget(self, owner: object) -> None:
        self._appended.pop(owner, None)
        self._committed.pop(owner, None)

    def wake_waiting(self) -> None:
        """Wakes all waiting fetches, because the partition was removed or its leader changed."""
        self._appended.notify(ENOUGH_BYTES)
        self._committed.notify(ENOUGH_BYTES)

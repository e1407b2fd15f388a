"""A partition's replica on this node, as it is to those who read from it and wait for more.

A leader and a follower are alike here: both have a log, know how much of it is committed, and know
under which leader and epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.model import ErrorCode, KafkaError, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.replication.fetch_waiters import FetchWaiters
from ottla.replication.partition_read import Isolation, PartitionRead
from ottla.storage.epochs.epoch_cache import UNDEFINED_EPOCH_END, UNDEFINED_OFFSET, EpochEnd
from ottla.storage.log.log import Log
from ottla.wire.messages.fetch import FetchPartition

# More than any fetch waits for.
ENOUGH_BYTES: Final = 2**31


class ReadablePartition:
    """`Partition` is what it is to its owner. `log` is None while its directory is offline."""

    __slots__ = (
        "_appended",
        "_committed",
        "is_leader",
        "leader",
        "leader_epoch",
        "log",
        "name",
        "topic_id",
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
        self._appended = FetchWaiters()
        self._committed = FetchWaiters()

    def read(
        self, offset: int, *, bytes_max: int, isolation: Isolation, min_one_batch: bool
    ) -> PartitionRead:
        """For a consumer. A follower may answer too, as far as it knows what is committed."""
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
        """The greatest epoch here that is not above `epoch`, and where it ended (KIP-101).

        The leader's own epoch counts from its beginning, though its first record is yet to come.
        """
        log = self.require_log()
        latest, current = log.epochs.latest_epoch, self.leader_epoch
        if latest is not None and not latest < epoch <= current:
            return log.epochs.end_offset_for(epoch=epoch, log_end_offset=log.log_end_offset)
        if not 0 <= epoch <= current:
            return UNDEFINED_EPOCH_END
        known = epoch if latest is None or epoch == current else latest
        return EpochEnd(known, log.log_end_offset)

    def divergence(self, asked: FetchPartition) -> EpochEnd | None:
        """Where the follower's last epoch ended here, if its log goes on after that (KIP-595)."""
        epoch, offset = asked.last_fetched_epoch, asked.fetch_offset
        if epoch < 0:
            return None
        log, end = self.require_log(), self.epoch_end(epoch)
        if end.end_offset == UNDEFINED_OFFSET or offset < log.log_start_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self.name} has {log.log_start_offset} to {log.log_end_offset} and knows nothing "
                f"of offset {offset} after epoch {epoch}",
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
            f"this node does not lead {self.name}; node {self.leader} does, as far as it knows",
        )

    def check_leader_epoch(self, requested: int) -> None:
        """Raises if the client knows another leader epoch than this node (KIP-320)."""
        if requested < 0 or requested == self.leader_epoch:
            return
        if requested < self.leader_epoch:
            raise KafkaError(
                ErrorCode.FENCED_LEADER_EPOCH,
                f"epoch {requested} of {self.name} is over, it has {self.leader_epoch} now",
            )
        raise KafkaError(
            ErrorCode.UNKNOWN_LEADER_EPOCH,
            f"epoch {requested} of {self.name} is not known here yet, only {self.leader_epoch}",
        )

    # ---- fetches that wait

    def when_appended(self, owner: object, told: Callable[[int], None]) -> None:
        """Has `told` called with the bytes of each append, until `forget` with the same owner."""
        self._appended[owner] = told

    def when_committed(self, owner: object, told: Callable[[int], None]) -> None:
        """Has `told` called when the high watermark moved, with the bytes that became visible or
        more than that, until `forget` with the same owner."""
        self._committed[owner] = told

    def forget(self, owner: object) -> None:
        self._appended.pop(owner, None)
        self._committed.pop(owner, None)

    def wake_waiting(self) -> None:
        """Has everybody who waits look again, since the partition is gone or led elsewhere."""
        self._appended.tell(ENOUGH_BYTES)
        self._committed.tell(ENOUGH_BYTES)

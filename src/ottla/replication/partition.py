"""A partition that this node leads.

With one replica everything appended is committed at once: the high watermark is the end of the log.
Who waits for more records (a long poll) or for durability is told by events, never by polling.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.model import Buffer, ErrorCode, KafkaError, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.storage.file_slice import FileSlice
from ottla.storage.leader_batch import Origin
from ottla.storage.log import AppendResult, Log
from ottla.storage.transaction_index import AbortedTransaction

# More than any fetch waits for.
_ENOUGH_BYTES: Final = 2**31


class Isolation(IntEnum):
    """Which records a reader may see, as Fetch and ListOffsets number it."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class PartitionRead(NamedTuple):
    """What a fetch finds: records, None where there is nothing yet, and the offsets around them."""

    records: FileSlice | None
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted_transactions: list[AbortedTransaction] | None


class Partition:
    """Owned by the node's loop. `log` is None while its directory is offline."""

    __slots__ = ("_appended", "leader", "leader_epoch", "log", "name", "topic_id")

    def __init__(
        self, name: TopicPartition, topic_id: Uuid, *, leader: NodeId, leader_epoch: LeaderEpoch
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.log: Log | None = None
        # Called after every append; whoever registers also takes itself out.
        self._appended: dict[object, Callable[[int], None]] = {}

    def append(
        self, records: Buffer, *, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> AppendResult:
        log = self.require_log()
        result = log.append_as_leader(
            records, leader_epoch=self.leader_epoch, now_ms=now_ms, origin=origin
        )
        if not result.is_duplicate:
            log.advance_high_watermark(log.log_end_offset)
            if self._appended:
                self._tell_waiting(len(records))
        return result

    def read(
        self, offset: int, *, bytes_max: int, isolation: Isolation, min_one_batch: bool
    ) -> PartitionRead:
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
                else log.aborted_transactions(fetch_offset=offset, upper_bound_offset=upper)
            )
        return PartitionRead(records, log.high_watermark, stable, log.log_start_offset, aborted)

    def require_log(self) -> Log:
        if self.log is None:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the log directory of {self.name} is offline; see the node's log for the reason",
            )
        return self.log

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

    def when_appended(self, owner: object, told: Callable[[int], None]) -> None:
        """Has `told` called with the bytes of each append, until `forget` with the same owner."""
        self._appended[owner] = told

    def forget(self, owner: object) -> None:
        self._appended.pop(owner, None)

    def wake_waiting(self) -> None:
        """Has everybody who waits look again, since the partition is gone."""
        self._tell_waiting(_ENOUGH_BYTES)

    def _tell_waiting(self, size: int) -> None:
        # Being told may end the wait, and so change the table.
        for told in list(self._appended.values()):
            told(size)

"""A partition's replica on this node: either the leader or a follower.

    alone ──▶ leading ◀──▶ following ──▶ stopped

The metadata decides the role. Registrations with an older partition epoch are ignored, and so are
requests and responses of another leader epoch. A leader without other replicas commits each append
at once: the high watermark is the log end offset. With other replicas, the high watermark is the
lowest log end offset in the maximal ISR (leadership.py). It advances when a follower's fetch
reports a new offset, or when the ISR changes. If the log syncs before acknowledging, records that
are not yet synced on this node are not committed, even if the followers have them.

Waiting requests are woken by events, never by polling: follower fetches by appends, consumer
fetches when the high watermark advances, producers when it reaches the end of their append.
"""

from __future__ import annotations

import logging
from typing import Final

from ottla.metadata import PartitionRegistration
from ottla.model import Buffer, ErrorCode, KafkaError, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.replication.isr_change import CommittedIsr, IsrChange, IsrRefusal, refusal_of
from ottla.replication.leadership import LeaderContext, Leadership
from ottla.replication.offset_waiters import Callback, OffsetWaiter, OffsetWaiters
from ottla.replication.partition_read import FetchingFollower, Isolation, PartitionRead, ReadReplica
from ottla.replication.readable_partition import ENOUGH_BYTES, ReadablePartition
from ottla.replication.remote_replica import RemoteReplica
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.batches.opened_batch import OpenedBatch
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.log import Log
from ottla.storage.producers.verification import Verification
from ottla.wire.messages.fetch import FetchPartition

__all__ = ["ACKS_ALL", "FetchingFollower", "Isolation", "Partition", "PartitionRead", "ReadReplica"]

_log = logging.getLogger(__name__)

ACKS_ALL: Final = -1
_CLIENT: Final = Origin.CLIENT
_NO_PARTITION_EPOCH: Final = -1


class Partition(ReadablePartition):
    """Owned by the node's event loop. Starts as the leader without other replicas, until the
    metadata assigns another role; ends with `stop`."""

    __slots__ = (
        "_acknowledgements",
        "_deletions",
        "_epoch_start_offset",
        "_leadership",
        "_uncommitted_bytes",
        "min_insync_replicas",
        "partition_epoch",
    )

    def __init__(
        self, name: TopicPartition, topic_id: Uuid, *, leader: NodeId, leader_epoch: LeaderEpoch
    ) -> None:
        super().__init__(name, topic_id, leader=leader, leader_epoch=leader_epoch)
        self.partition_epoch = _NO_PARTITION_EPOCH
        self.min_insync_replicas = 1
        # None while this node has the only replica, or is a follower.
        self._leadership: Leadership | None = None
        # The log end offset at the start of this node's leader epoch.
        self._epoch_start_offset = 0
        # An upper bound of the bytes between the high watermark and the log end offset.
        self._uncommitted_bytes = 0
        self._acknowledgements: OffsetWaiters | None = None
        self._deletions: OffsetWaiters | None = None

    # ---- metadata changes

    def become_leader(
        self, registration: PartitionRegistration, context: LeaderContext, *, now_ms: int
    ) -> bool:
        """Applies a registration that names this node as leader: a new leader epoch, or changed
        replicas or ISR. Returns False if the registration is stale or already applied.
        `now_ms` is monotonic, as everywhere where lag is measured.
        """
        is_new_epoch = (
            not self.is_leader
            or registration.leader_epoch > self.leader_epoch
            # So far this node led only by default: no registration has been applied.
            or self.partition_epoch == _NO_PARTITION_EPOCH
        )
        if registration.partition_epoch < self.partition_epoch or (
            # The AlterPartition response already brought this state. Applying it again would drop
            # a proposal made since then, which the maximal ISR still has to include.
            registration.partition_epoch == self.partition_epoch and not is_new_epoch
        ):
            return False
        self._take_epochs(registration)
        self.is_leader = True
        end = 0 if self.log is None else self.log.log_end_offset
        if is_new_epoch:
            self._epoch_start_offset = end
        if registration.replicas == (context.node_id,):
            self._leadership = None
        else:
            is_new = self._leadership is None
            leadership = self._leadership = self._leadership or Leadership(context)
            leadership.follow(registration)
            if is_new or is_new_epoch:
                leadership.begin_epoch(leader_end=end, now_ms=now_ms)
        self._isr_changed()
        return True

    @property
    def is_high_watermark_settled(self) -> bool:
        """Whether the high watermark covers everything that earlier leaders committed. Those
        records were in this log when the epoch began, but the high watermark reaches them only
        when the followers have fetched."""
        return self.log is None or self.log.high_watermark >= self._epoch_start_offset

    def become_follower(self, registration: PartitionRegistration) -> bool:
        """Becomes a follower of the registered leader, or of none if there is no leader. Returns
        True if fetching has to start or restart."""
        if registration.partition_epoch < self.partition_epoch:
            return False
        is_new_epoch = self.is_leader or registration.leader_epoch > self.leader_epoch
        self._take_epochs(registration)
        self._stop_leading()
        return is_new_epoch

    def stop(self) -> None:
        """The replica is removed from this node. Waiting fetches check again; waiting producers
        get NOT_LEADER_OR_FOLLOWER."""
        was_leader = self.is_leader
        self._stop_leading()
        if not was_leader:
            self.wake_waiting()

    def go_offline(self) -> None:
        """The log's directory has failed."""
        self.log = None
        self._fail_waiting(ErrorCode.KAFKA_STORAGE_ERROR)
        self.wake_waiting()

    def set_min_insync_replicas(self, count: int) -> None:
        self.min_insync_replicas = count
        self._maybe_advance_high_watermark()

    def _take_epochs(self, registration: PartitionRegistration) -> None:
        assert registration.leader_epoch >= self.leader_epoch, f"{self.name}: epoch decreased"
        self.leader = NodeId(registration.leader)
        self.leader_epoch = LeaderEpoch(registration.leader_epoch)
        self.partition_epoch = registration.partition_epoch

    def _stop_leading(self) -> None:
        was_leader, self.is_leader = self.is_leader, False
        self._leadership = None
        self._uncommitted_bytes = 0
        if was_leader:
            self._fail_waiting(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            self.wake_waiting()

    def _fail_waiting(self, error: ErrorCode) -> None:
        for waiters in (self._acknowledgements, self._deletions):
            if waiters is not None:
                waiters.fail(error)

    @property
    def has_other_replicas(self) -> bool:
        return not self.is_leader or self._leadership is not None

    # ---- appending

    def append(
        self,
        records: Buffer,
        *,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        acks: int = 1,
        transaction_version: int = 0,
        verification: Verification | None = None,
        opened: OpenedBatch | None = None,
    ) -> AppendResult:
        """Appends as leader. With acks=-1, raises NOT_ENOUGH_REPLICAS if the ISR is below
        min.insync.replicas."""
        log, leadership = self.log, self._leadership
        if log is None or not self.is_leader:
            self.require_leader()
            log = self.require_log()
        if leadership is not None and acks == ACKS_ALL:
            self._require_enough_replicas(leadership)
        result = log.append_as_leader(
            records,
            leader_epoch=self.leader_epoch,
            now_ms=now_ms,
            origin=origin,
            transaction_version=transaction_version,
            verification=verification,
            opened=opened,
        )
        if result.is_duplicate:
            return result
        # A marker may make a whole transaction visible.
        visible = len(records) if origin is _CLIENT else ENOUGH_BYTES
        if leadership is None and not log.config.syncs_before_acknowledging:
            log.advance_high_watermark(log.log_end_offset)
            if self._committed:
                self._committed.notify(visible)
        else:
            self._uncommitted_bytes += visible
            self._maybe_advance_high_watermark()
        if self._appended:
            self._appended.notify(len(records))
        return result

    def _require_enough_replicas(self, leadership: Leadership) -> None:
        if leadership.is_below(self.min_insync_replicas):
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"{self.name} has too few in-sync replicas: {len(leadership.isr)}, but "
                f"min.insync.replicas is {self.min_insync_replicas}",
            )

    def is_acknowledged(self, offset: int) -> bool:
        """Whether an append with acks=-1 that ends at `offset` can be acknowledged now."""
        log, leadership = self.log, self._leadership
        return (
            log is not None
            and log.high_watermark >= offset
            and (leadership is None or not leadership.is_below(self.min_insync_replicas))
        )

    def when_acknowledged(self, offset: int, callback: Callback) -> OffsetWaiter:
        """Calls `callback` once with the result of an append with acks=-1 that ends at `offset`:
        NONE when all in-sync replicas have it, NOT_ENOUGH_REPLICAS_AFTER_APPEND if the ISR fell
        below min.insync.replicas, NOT_LEADER_OR_FOLLOWER if this node is no longer the leader."""
        if self._acknowledgements is None:
            self._acknowledgements = OffsetWaiters()
        waiter = self._acknowledgements.add(offset, callback)
        self._acknowledge()
        return waiter

    def _acknowledge(self) -> None:
        waiters = self._acknowledgements
        if not waiters:
            return
        if not self.is_leader:
            waiters.fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif self.is_under_min_isr:
            waiters.fail(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        else:
            waiters.reached(self.require_log().high_watermark, ErrorCode.NONE)

    # ---- followers

    def record_follower_fetch(
        self, follower: FetchingFollower, fetch: FetchPartition, *, now_ms: int
    ) -> None:
        """Records a follower's fetch: the follower has everything below its fetch offset, so the
        high watermark may advance. A fetch from a diverging log is not recorded: the follower has
        to truncate first. Raises `KafkaError` as `read_for_follower` does."""
        replica = self._require_follower(follower, fetch)
        if self.divergence(fetch) is None:
            log = self.require_log()
            log.require_in_range(fetch.fetch_offset)
            self._follower_fetched(log, replica, follower, fetch, now_ms)

    def read_for_follower(
        self,
        follower: FetchingFollower,
        fetch: FetchPartition,
        *,
        bytes_max: int,
        min_one_batch: bool,
    ) -> PartitionRead:
        """Reads at the follower's fetch offset, up to the log end offset. Changes no state."""
        self._require_follower(follower, fetch)
        log = self.require_log()
        diverging = self.divergence(fetch)
        records = None
        if diverging is None:
            records = log.read(
                fetch.fetch_offset,
                bytes_max=bytes_max,
                upper_offset=log.log_end_offset,
                min_one_batch=min_one_batch,
            )
        return PartitionRead(
            records,
            log.high_watermark,
            log.last_stable_offset,
            log.log_start_offset,
            None,
            diverging,
        )

    def _require_follower(self, follower: FetchingFollower, fetch: FetchPartition) -> RemoteReplica:
        self.check_leader_epoch(fetch.current_leader_epoch)
        self.require_leader()
        self.require_log()
        if self._leadership is None:
            # This node has not received the metadata with the other replicas yet: the follower
            # retries on this error.
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH, f"{self.name} has no other replicas")
        return self._leadership.require(follower, self.name)

    def read_replicas(self, offset: int, *, now_ms: int) -> list[ReadReplica]:
        """The followers that can serve a consumer at this offset (KIP-392)."""
        leadership = self._leadership
        return [] if leadership is None else leadership.read_replicas(offset, now_ms=now_ms)

    def _follower_fetched(
        self,
        log: Log,
        replica: RemoteReplica,
        follower: FetchingFollower,
        fetch: FetchPartition,
        now_ms: int,
    ) -> None:
        leadership = self._leadership
        assert leadership is not None
        has_moved = replica.log_end_offset != fetch.fetch_offset
        end = log.log_end_offset
        replica.fetched(
            offset=fetch.fetch_offset,
            log_start_offset=fetch.log_start_offset,
            broker_epoch=follower.broker_epoch,
            leader_end=end,
            now_ms=now_ms,
        )
        if replica.id not in leadership.maximal_isr:
            # The follower must also have reached the start of this epoch: records below it may
            # have been acknowledged by an earlier leader, although they are still above the high
            # watermark here.
            joins_at = max(log.high_watermark, self._epoch_start_offset)
            if leadership.can_join(replica, joins_at):
                leadership.propose(self, leadership.isr | {replica.id})
            leadership.note_joining(replica, leader_end=end, now_ms=now_ms)
        if has_moved:
            self._maybe_advance_high_watermark()
        if self._deletions:
            self._deletions.reached(self.low_watermark, ErrorCode.NONE)

    # ---- the ISR

    @property
    def isr(self) -> frozenset[int]:
        """The committed ISR. Without other replicas, or on a follower, only the leader."""
        return frozenset({self.leader}) if self._leadership is None else self._leadership.isr

    @property
    def is_under_min_isr(self) -> bool:
        leadership = self._leadership
        return leadership is not None and leadership.is_below(self.min_insync_replicas)

    def maybe_shrink_isr(self, *, now_ms: int) -> None:
        """Proposes to remove lagging followers. Must be called at least twice in
        `replica.lag.time.max.ms`."""
        leadership, log = self._leadership, self.log
        if leadership is None or log is None:
            return
        late = leadership.look(leader_end=log.log_end_offset, now_ms=now_ms)
        # A follower that was about to join may have held back the high watermark.
        self._maybe_advance_high_watermark()
        if late and leadership.pending is None:
            _log.info("%s: removing lagging replicas %s from the ISR", self.name, sorted(late))
            leadership.propose(self, leadership.isr.difference(late))
        self.maybe_expand_isr()

    def maybe_expand_isr(self) -> None:
        """Proposes caught-up followers that could not join the ISR when they fetched. Must be
        called when this may have changed: a broker's registration or the ISR has changed."""
        leadership, log = self._leadership, self.log
        if leadership is not None and log is not None:
            leadership.expand(self, leader_end=log.log_end_offset)

    def isr_change_committed(self, change: IsrChange, committed: CommittedIsr) -> None:
        leadership = self._leadership
        if leadership is None or leadership.pending is not change:
            return
        assert change.leader_epoch == self.leader_epoch, "a new epoch discards the change"
        if (
            committed.leader_epoch == self.leader_epoch
            and committed.partition_epoch >= self.partition_epoch
        ):
            self.partition_epoch = committed.partition_epoch
            leadership.commit(committed.isr)
            self._isr_changed()

    def isr_change_refused(self, change: IsrChange, error: int) -> None:
        leadership = self._leadership
        if leadership is None or leadership.pending is not change:
            return
        _log.info("%s: the controller refused the ISR change: error %d", self.name, error)
        refusal = refusal_of(error)
        if refusal is IsrRefusal.FORGET:
            leadership.forget_proposal()
        elif refusal is IsrRefusal.RETRY:
            leadership.context.isr_changes.propose(self, change)

    def _isr_changed(self) -> None:
        self._maybe_advance_high_watermark()
        # If the ISR fell below min.insync.replicas, waiting producers get an error.
        self._acknowledge()
        self.maybe_expand_isr()

    # ---- offsets

    @property
    def low_watermark(self) -> int:
        """The lowest log start offset of all live replicas."""
        start = self.require_log().log_start_offset
        return start if self._leadership is None else self._leadership.low_watermark(start)

    def delete_records_before(self, offset: int) -> None:
        """Raises the log start offset, and wakes waiting follower fetches to send it to them."""
        self.require_log().delete_records_before(offset)
        self._appended.notify(0)

    def when_deleted(self, offset: int, callback: Callback) -> OffsetWaiter:
        """Calls `callback` once, with NONE when no live replica has records below `offset`, or with
        an error if this node stops leading or the log goes offline."""
        if self._deletions is None:
            self._deletions = OffsetWaiters()
        waiter = self._deletions.add(offset, callback)
        self._deletions.reached(self.low_watermark, ErrorCode.NONE)
        return waiter

    def follow_high_watermark(self, offset: int) -> None:
        """Takes over the leader's high watermark, at most up to this log's end. Never goes back."""
        log = self.require_log()
        if min(offset, log.log_end_offset) > log.high_watermark:
            log.advance_high_watermark(offset)
            self._high_watermark_moved(log)

    def log_synced(self) -> None:
        """More of the log is synced. If the log syncs before acknowledging, the high watermark may
        advance."""
        if self.is_leader:
            self._maybe_advance_high_watermark()

    def _maybe_advance_high_watermark(self) -> None:
        log, leadership = self.log, self._leadership
        if log is None or self.partition_epoch == _NO_PARTITION_EPOCH:
            # Before the first registration the role of this replica is unknown.
            return
        end = log.recovery_point if log.config.syncs_before_acknowledging else log.log_end_offset
        if leadership is not None:
            if leadership.is_below(self.min_insync_replicas):
                # Below min.insync.replicas the high watermark does not advance (KIP-966).
                return
            end = leadership.replicated_up_to(end)
        if self.is_leader and end > log.high_watermark:
            log.advance_high_watermark(end)
            self._high_watermark_moved(log)

    def _high_watermark_moved(self, log: Log) -> None:
        size = self._uncommitted_bytes or ENOUGH_BYTES
        if log.high_watermark == log.log_end_offset:
            self._uncommitted_bytes = 0
        if self._acknowledgements:
            self._acknowledge()
        if self._committed:
            self._committed.notify(size)

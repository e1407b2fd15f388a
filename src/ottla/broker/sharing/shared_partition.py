"""A share group's state in a partition that this node leads: loading, storing, waiting.

    loading ──load──▶ active ──close──▶ closed

The state machine (ottla.shares.share_partition) decides; this class asks the share coordinator,
runs the timer of locks and wakes waiting fetches. One write to the share coordinator is in flight
at a time; changes that come meanwhile are written together afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ottla.broker.sharing.dead_letters import DeadLetters
from ottla.broker.sharing.group_delivery import GroupDeliveries
from ottla.broker.sharing.share_metrics import ShareMetrics
from ottla.broker.sharing.start_offsets import StartOffsets
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.runtime.clock import Clock, Timer
from ottla.shares.delivery_settings import DeliverySettings
from ottla.shares.key_order import KeyOrder
from ottla.shares.runs import Change
from ottla.shares.share_key import ShareKey
from ottla.shares.share_partition import SharePartition
from ottla.shares.state_batch import StateBatch, merge_batches
from ottla.wire.messages import read_share_group_state as read_wire
from ottla.wire.messages import write_share_group_state as write_wire

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates

_log = logging.getLogger(__name__)

_NO_OFFSET: Final = -1
# After a failed write, before the ended locks are released again.
_RETRY_SECONDS: Final = 1.0

# The errors of the share coordinator as the clients of the leader get them.
_CLIENT_CODES: Final = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND: ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE: ErrorCode.LEADER_NOT_AVAILABLE,
}
# With these errors, this state is not the stored one any more: it is loaded again.
_OUTDATED: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)

Stored = Callable[[KafkaError | None], None]


class SharedState(Enum):
    LOADING = auto()
    ACTIVE = auto()
    CLOSED = auto()


class ShareWaiter(Protocol):
    """A fetch that waits for records."""

    def wake(self) -> None: ...


class SharingContext(NamedTuple):
    """What the shared partitions of a node share."""

    clock: Clock
    states: ShareStates
    deliveries: GroupDeliveries
    start_offsets: StartOffsets
    metrics: ShareMetrics
    dead_letters: DeadLetters
    # Called when a partition has closed.
    closed: Callable[[SharedPartition], None]

    def now(self) -> float:
        return self.clock.monotonic() * 1_000


class SharedPartition:
    """Created with the first fetch of a group from a partition. Closed when this node stops leading
    it, or when the group has no sessions on this node any more."""

    def __init__(self, key: ShareKey, partition: Partition, context: SharingContext) -> None:
        self.key = key
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.state = SharedState.LOADING
        # Why it was closed.
        self.error: KafkaError | None = None
        self._context = context
        self._machine: SharePartition | None = None
        self._state_epoch = 0
        self._order: KeyOrder | None = None
        self._queued: list[tuple[Change, Stored]] = []
        self._is_writing = False
        self._waiters: dict[ShareWaiter, None] = {}
        self._timer: Timer | None = None
        self._timer_at = float("inf")
        self._is_waking = False
        self._is_unused = False

    @property
    def machine(self) -> SharePartition:
        assert self._machine is not None
        return self._machine

    @property
    def is_active(self) -> bool:
        return self.state is SharedState.ACTIVE

    @property
    def order(self) -> KeyOrder | None:
        """The order by key, if the group has one."""
        if not self.settings().orders_keys:
            self._order = None
        elif self._order is None:
            self._order = KeyOrder(self.machine)
        return self._order

    def settings(self) -> DeliverySettings:
        return self._context.deliveries.of(self.key.group_id).settings

    # ---- loading

    def load(self) -> None:
        self._context.states.read(
            self.key, leader_epoch=self.leader_epoch, callback=self._state_read
        )

    def _state_read(self, result: read_wire.PartitionResult) -> None:
        if self.state is not SharedState.LOADING:
            return
        if result.error_code:
            self.close(_client_error(result.error_code, result.error_message))
            return
        self._state_epoch = result.state_epoch
        if result.start_offset != _NO_OFFSET:
            self._activate(
                result.start_offset,
                [
                    StateBatch(
                        each.first_offset,
                        each.last_offset,
                        each.delivery_state,
                        each.delivery_count,
                    )
                    for each in result.state_batches
                ],
            )
            return
        offset_reset = self._context.deliveries.of(self.key.group_id).offset_reset
        self._context.start_offsets.find(self.partition, offset_reset, self._start_found)

    def _start_found(self, found: int | KafkaError) -> None:
        """Stores the start offset that was chosen, so that the next leader does not choose
        another. Kafka stores it with the first acknowledgement."""
        if self.state is not SharedState.LOADING:
            return
        if isinstance(found, KafkaError):
            self.close(_client_error(found.code, found.message))
            return
        data = write_wire.PartitionData(
            partition=self.key.partition,
            state_epoch=self._state_epoch,
            leader_epoch=self.leader_epoch,
            start_offset=found,
            delivery_complete_count=0,
        )
        self._context.states.write(self.key, data, partial(self._start_stored, found))

    def _start_stored(self, start_offset: int, result: write_wire.PartitionResult) -> None:
        if self.state is not SharedState.LOADING:
            return
        if result.error_code:
            self.close(_client_error(result.error_code, result.error_message))
        else:
            self._activate(start_offset, [])

    def _activate(self, start_offset: int, batches: list[StateBatch]) -> None:
        self._machine = SharePartition(
            self.settings, start_offset=start_offset, batches=batches, now=self._context.now()
        )
        self.state = SharedState.ACTIVE
        self.follow_log_start()
        self.wake_all()

    def use(self) -> None:
        """A session of the group uses this state."""
        self._is_unused = False

    def close_unused(self) -> None:
        """Closes this state when what is being written is stored: a state that is loaded before
        would not have it."""
        self._is_unused = True
        if not self._is_writing and not self._queued and not self._has_changes():
            self.close(
                KafkaError(
                    ErrorCode.LEADER_NOT_AVAILABLE,
                    f"group {self.key.group_id} has no share session on this node",
                )
            )

    def _has_changes(self) -> bool:
        """Whether changes wait for their dead letters."""
        return self.is_active and any(run.change is not None for run in self.machine.runs)

    def close(self, error: KafkaError) -> None:
        """For good: the next fetch loads the state again."""
        if self.state is SharedState.CLOSED:
            return
        self.state, self.error = SharedState.CLOSED, error
        if self._timer is not None:
            self._timer.cancel()
        self.partition.forget(self)
        self._context.closed(self)
        queued, self._queued = self._queued, []
        for _, stored in queued:
            stored(error)
        self.wake_all()

    # ---- storing changes

    def store(self, change: Change, stored: Stored) -> None:
        """Stores a change at the share coordinator and applies it. Calls `stored` once, with the
        error if it was not stored."""
        if not change.batches or not self.is_active:
            stored(self.error)
            return
        context, group_id = self._context, self.key.group_id
        context.dead_letters.write(
            group_id,
            self.partition,
            context.deliveries.of(group_id).dead_letters,
            change.dead,
            partial(self._enqueue, change, stored),
        )

    def _enqueue(self, change: Change, stored: Stored, error: KafkaError | None) -> None:
        """The dead letters of the change are written."""
        if not self.is_active:
            stored(self.error)
        elif error is not None:
            self.machine.roll_back(change)
            stored(error)
            self.settle(retry_seconds=_RETRY_SECONDS)
        else:
            self._queued.append((change, stored))
            self._maybe_write()

    def _maybe_write(self) -> None:
        if self._is_writing or not self._queued:
            return
        queued, self._queued = self._queued, []
        batches: list[StateBatch] = []
        for change, _ in queued:
            merge_batches(batches, change.batches)
        machine = self.machine
        data = write_wire.PartitionData(
            partition=self.key.partition,
            state_epoch=self._state_epoch,
            leader_epoch=self.leader_epoch,
            start_offset=machine.start_offset,
            delivery_complete_count=machine.complete_count,
            state_batches=[
                write_wire.StateBatch(
                    first_offset=batch.first_offset,
                    last_offset=batch.last_offset,
                    delivery_state=batch.delivery_state,
                    delivery_count=batch.delivery_count,
                )
                for batch in batches
            ],
        )
        self._is_writing = True
        self._context.states.write(self.key, data, partial(self._written, queued))

    def _written(
        self, queued: list[tuple[Change, Stored]], result: write_wire.PartitionResult
    ) -> None:
        self._is_writing = False
        error: KafkaError | None = None
        if result.error_code:
            error = _client_error(result.error_code, result.error_message)
        if self.state is SharedState.CLOSED:
            for _, stored in queued:
                stored(error)
            return
        machine, now = self.machine, self._context.now()
        for change, _ in queued:
            if error is None:
                machine.commit(change, now=now)
            else:
                machine.roll_back(change)
        if error is not None and error.code in _OUTDATED:
            self.close(error)
        for _, stored in queued:
            stored(error)
        if self.is_active:
            self._maybe_write()
            self.settle(retry_seconds=_RETRY_SECONDS if error is not None else 0)
            self.wake_all()
        if self.is_active and self._is_unused:
            self.close_unused()

    # ---- locks and retry delays

    def settle(self, *, retry_seconds: float = 0) -> None:
        """Sets the timer for the next lock or retry delay that ends. Called after each change."""
        now = self._context.now()
        deadline = self.machine.next_deadline(now)
        if retry_seconds:
            deadline = max(deadline, now + retry_seconds * 1_000)
        if deadline >= self._timer_at and self._timer is not None:
            # The timer fires earlier, and is then set again.
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timer_at = deadline
        if deadline < float("inf"):
            seconds = max(deadline - now, 0) / 1_000
            self._timer = self._context.clock.call_later(seconds, self._time_has_come)

    def _time_has_come(self) -> None:
        self._timer, self._timer_at = None, float("inf")
        if not self.is_active:
            return
        change = self.machine.expire(self._context.now())
        if change.batches:
            self._context.metrics.expired(sum(len(run) for run in change.runs))
            self.store(change, lambda _error: None)
        if self.is_active:
            self.settle()
            self.wake_all()

    # ---- waiting fetches

    def follow_log_start(self) -> None:
        log = self.partition.log
        if log is not None:
            self.machine.log_start_moved(log.log_start_offset)

    def wait(self, waiter: ShareWaiter) -> None:
        if not self._waiters:
            self.partition.when_committed(self, self._committed)
        self._waiters[waiter] = None

    def stop_waiting(self, waiter: ShareWaiter) -> None:
        if self._waiters.pop(waiter, self) is None and not self._waiters:
            self.partition.forget(self)

    def _committed(self, _size: int) -> None:
        self.wake_all()

    def wake_all(self) -> None:
        """Wakes waiting fetches in their order, as long as there may be records for them."""
        if self._is_waking:
            return
        self._is_waking = True
        try:
            for waiter in list(self._waiters):
                if self.is_active and not self._has_records():
                    return
                if waiter in self._waiters:
                    waiter.wake()
        finally:
            self._is_waking = False

    def _has_records(self) -> bool:
        log, now = self.partition.log, self._context.now()
        if log is None or not self.partition.is_leader:
            return True
        return self.machine.can_acquire(now) and self.machine.next_offset(now) < log.high_watermark


def _client_error(code: int, message: str | None) -> KafkaError:
    known = _CLIENT_CODES.get(ErrorCode(code), ErrorCode.UNKNOWN_SERVER_ERROR)
    return KafkaError(known, message or "the share coordinator refused the request")

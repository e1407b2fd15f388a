"""The share coordinator of one partition of `__share_group_state`.

Each state has a state epoch, which the group coordinator raises when it initializes the state, and
a leader epoch, which the leader of the share partition raises when it reads the state. Writes of
earlier epochs are fenced. A write appends an update; after
`share.coordinator.snapshot.update.records.per.snapshot` updates, it appends a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar

from ottla.coordinator.runtime.outcome import NOTHING, CoordinatorRecord, Outcome
from ottla.coordinator.shares.settings import ShareSettings
from ottla.coordinator.shares.share_state import (
    NO_EPOCH,
    NO_OFFSET,
    UNKNOWN_COUNT,
    ShareState,
    repeated_snapshot,
    snapshot_record,
    state_of,
    stored_batches,
    tombstone,
    update_record,
)
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.runtime.clock import Clock
from ottla.shares.share_key import ShareKey
from ottla.shares.state_batch import StateBatch, merge_batches, prune_batches
from ottla.wire.messages import delete_share_group_state as delete_wire
from ottla.wire.messages import initialize_share_group_state as initialize_wire
from ottla.wire.messages import read_share_group_state as read_wire
from ottla.wire.messages import read_share_group_state_summary as summary_wire
from ottla.wire.messages import write_share_group_state as write_wire
from ottla.wire.schema import Message
from ottla.wire.stored import shares as stored
from ottla.wire.stored.coordinator_records import SHARE_RECORDS, CoordinatorRecords


@dataclass(frozen=True, slots=True)
class ShareContext:
    clock: Clock
    # These can change while the coordinator is active.
    settings_now: Callable[[], ShareSettings]
    image_now: Callable[[], MetadataImage]

    @property
    def settings(self) -> ShareSettings:
        return self.settings_now()


class ShareCoordinator:
    """The state machine. Owned by its shard."""

    record_types: ClassVar[CoordinatorRecords] = SHARE_RECORDS

    def __init__(self, context: ShareContext) -> None:
        self._context = context
        self.states: dict[ShareKey, ShareState] = {}
        # The offset behind the last record.
        self._end_offset = 0

    # ---- life cycle and replay

    def loaded(self) -> None: ...

    def unloaded(self) -> None: ...

    def replay(self, key: Message, value: Message | None, *, offset: int, producer_id: int) -> None:  # noqa: ARG002 - every state machine's signature
        assert isinstance(key, stored.ShareSnapshotKey | stored.ShareUpdateKey)
        self._end_offset = offset + 1
        share = ShareKey(key.group_id, key.topic_id, key.partition)
        before = self.states.get(share)
        if isinstance(value, stored.ShareSnapshotValue):
            self.states[share] = state_of(value, offset=offset, before=before)
        elif isinstance(value, stored.ShareUpdateValue):
            if before is not None:
                before.update(value)
        else:
            self.states.pop(share, None)

    def replay_end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """Nothing writes transactions to this topic."""

    # ---- requests

    def initialize(self, key: ShareKey, *, state_epoch: int, start_offset: int) -> Outcome:
        """Creates the state, or replaces it."""
        self._check(key)
        before = self.states.get(key)
        if before is not None and NO_EPOCH < state_epoch < before.state_epoch:
            raise _fenced_state(before, state_epoch)
        now_ms = self._context.clock.now_ms()
        record = snapshot_record(
            key,
            stored.ShareSnapshotValue(
                snapshot_epoch=0 if before is None else before.snapshot_epoch + 1,
                state_epoch=state_epoch,
                start_offset=start_offset,
                delivery_complete_count=UNKNOWN_COUNT if start_offset == NO_OFFSET else 0,
                create_timestamp=now_ms,
                write_timestamp=now_ms,
            ),
        )
        return Outcome([record], initialize_wire.PartitionResult(partition=key.partition))

    def read(self, key: ShareKey, *, leader_epoch: int) -> Outcome:
        """Returns the state. A newer leader epoch is recorded, which fences earlier leaders."""
        self._check_number(key)
        state = self.states.get(key)
        if state is None:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "Read operation on uninitialized share partition not allowed.",
            )
        if NO_EPOCH < leader_epoch < state.leader_epoch:
            raise _fenced_leader(state, leader_epoch)
        self._check(key)
        response = read_wire.PartitionResult(
            partition=key.partition,
            state_epoch=state.state_epoch,
            start_offset=state.start_offset,
            state_batches=[
                read_wire.StateBatch(
                    first_offset=batch.first_offset,
                    last_offset=batch.last_offset,
                    delivery_state=batch.delivery_state,
                    delivery_count=batch.delivery_count,
                )
                for batch in state.batches
            ],
        )
        if leader_epoch in (NO_EPOCH, state.leader_epoch):
            return Outcome(response=response)
        record = self._change(
            key,
            state,
            leader_epoch=leader_epoch,
            start_offset=state.start_offset,
            complete_count=state.complete_count,
            batches=[],
        )
        return Outcome([record], response)

    def write(self, key: ShareKey, data: write_wire.PartitionData) -> Outcome:
        self._check_number(key)
        state = self.states.get(key)
        if state is None:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "Write operation on uninitialized share partition not allowed.",
            )
        if NO_EPOCH < data.leader_epoch < state.leader_epoch:
            raise _fenced_leader(state, data.leader_epoch)
        if NO_EPOCH < data.state_epoch < state.state_epoch:
            raise _fenced_state(state, data.state_epoch)
        self._check(key)
        record = self._change(
            key,
            state,
            leader_epoch=state.leader_epoch,
            start_offset=data.start_offset,
            complete_count=data.delivery_complete_count,
            batches=[
                StateBatch(
                    batch.first_offset,
                    batch.last_offset,
                    batch.delivery_state,
                    batch.delivery_count,
                )
                for batch in data.state_batches
            ],
        )
        return Outcome([record], write_wire.PartitionResult(partition=key.partition))

    def delete(self, key: ShareKey) -> Outcome:
        self._check(key)
        records = [tombstone(key)] if key in self.states else []
        return Outcome(records, delete_wire.PartitionResult(partition=key.partition))

    def summary(self, key: ShareKey) -> Outcome:
        self._check(key)
        state = self.states.get(key)
        if state is None:
            state = ShareState()
        return Outcome(
            response=summary_wire.PartitionResult(
                partition=key.partition,
                state_epoch=state.state_epoch,
                leader_epoch=state.leader_epoch,
                start_offset=state.start_offset,
                delivery_complete_count=state.complete_count,
            )
        )

    # ---- maintenance

    def snapshot_cold(self) -> Outcome:
        """Snapshots of the states that have had none for a while: their old records would keep the
        log from being pruned. As long as few records can be pruned, there are none: the states of
        idle groups would be written again and again."""
        if self._obsolete_count() <= len(self.states):
            return NOTHING
        now_ms = self._context.clock.now_ms()
        oldest_ms = now_ms - self._context.settings.cold_interval_ms
        return Outcome(
            [
                repeated_snapshot(key, state, now_ms=now_ms)
                for key, state in self.states.items()
                if state.written_ms <= oldest_ms
            ]
        )

    def _obsolete_count(self) -> int:
        """Records that are kept only because older ones are needed."""
        needed = sum(1 + state.update_count for state in self.states.values())
        return self._end_offset - self.needed_from(self._end_offset) - needed

    def topics_deleted(self, topic_ids: Collection[Uuid]) -> Outcome:
        gone = [key for key in self.states if key.topic_id in topic_ids]
        return Outcome([tombstone(key) for key in gone]) if gone else NOTHING

    def needed_from(self, end_offset: int) -> int:
        """The first offset of the log that replaying still needs."""
        return min((state.snapshot_offset for state in self.states.values()), default=end_offset)

    # ---- records

    def _change(
        self,
        key: ShareKey,
        state: ShareState,
        *,
        leader_epoch: int,
        start_offset: int,
        complete_count: int,
        batches: list[StateBatch],
    ) -> CoordinatorRecord:
        if state.update_count < self._context.settings.updates_per_snapshot:
            merged: list[StateBatch] = []
            merge_batches(merged, batches)
            prune_batches(merged, start_offset)
            return update_record(
                key,
                stored.ShareUpdateValue(
                    snapshot_epoch=state.snapshot_epoch,
                    leader_epoch=leader_epoch,
                    start_offset=start_offset,
                    delivery_complete_count=complete_count,
                    state_batches=stored_batches(merged),
                ),
            )
        start_offset = max(start_offset, state.start_offset)
        merged = state.batches.copy()
        merge_batches(merged, batches)
        prune_batches(merged, start_offset)
        now_ms = self._context.clock.now_ms()
        return snapshot_record(
            key,
            stored.ShareSnapshotValue(
                snapshot_epoch=state.snapshot_epoch + 1,
                state_epoch=state.state_epoch,
                leader_epoch=leader_epoch,
                start_offset=start_offset,
                delivery_complete_count=complete_count,
                create_timestamp=now_ms,
                write_timestamp=now_ms,
                state_batches=stored_batches(merged),
            ),
        )

    # ---- refusals

    def _check_number(self, key: ShareKey) -> None:
        if key.partition < 0:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, "The partition id cannot be a negative number."
            )

    def _check(self, key: ShareKey) -> None:
        self._check_number(key)
        topic = self._context.image_now().topics.by_id.get(key.topic_id)
        if topic is None or key.partition not in topic.partitions:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                "This server does not host this topic-partition.",
            )


def _fenced_state(state: ShareState, epoch: int) -> KafkaError:
    return KafkaError(
        ErrorCode.FENCED_STATE_EPOCH,
        f"state epoch {epoch} is fenced; the current one is {state.state_epoch}",
    )


def _fenced_leader(state: ShareState, epoch: int) -> KafkaError:
    return KafkaError(
        ErrorCode.FENCED_LEADER_EPOCH,
        f"leader epoch {epoch} is fenced; the current one is {state.leader_epoch}",
    )

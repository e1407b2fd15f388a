"""The stored state of one share partition, and its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.shares.share_key import ShareKey
from ottla.shares.state_batch import StateBatch, merge_batches, prune_batches
from ottla.wire.stored import shares as stored

# The leader has not chosen a start offset yet.
NO_OFFSET: Final = -1
NO_EPOCH: Final = -1
UNKNOWN_COUNT: Final = -1


@dataclass(slots=True)
class ShareState:
    """Changed only by replaying records."""

    snapshot_epoch: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = NO_OFFSET
    # How many records from the start offset on are acknowledged or archived; -1 if not known.
    complete_count: int = UNKNOWN_COUNT
    batches: list[StateBatch] = field(default_factory=list)
    created_ms: int = 0
    written_ms: int = 0
    # The updates since the last snapshot.
    update_count: int = 0
    # The offset of the last snapshot in the log: earlier records are not needed any more.
    snapshot_offset: int = 0

    def update(self, value: stored.ShareUpdateValue) -> None:
        # Never lower: a write that was repeated may arrive late.
        self.start_offset = max(self.start_offset, value.start_offset)
        if value.leader_epoch != NO_EPOCH:
            self.leader_epoch = max(self.leader_epoch, value.leader_epoch)
        self.complete_count = value.delivery_complete_count
        merge_batches(self.batches, batches_of(value.state_batches))
        prune_batches(self.batches, self.start_offset)
        self.update_count += 1


def state_of(
    value: stored.ShareSnapshotValue, *, offset: int, before: ShareState | None
) -> ShareState:
    """The state in a snapshot. Epochs never go back."""
    return ShareState(
        snapshot_epoch=value.snapshot_epoch,
        state_epoch=max(value.state_epoch, 0 if before is None else before.state_epoch),
        leader_epoch=max(value.leader_epoch, 0 if before is None else before.leader_epoch),
        start_offset=value.start_offset,
        complete_count=value.delivery_complete_count,
        batches=batches_of(value.state_batches),
        created_ms=value.create_timestamp,
        written_ms=value.write_timestamp,
        snapshot_offset=offset,
    )


def batches_of(batches: Iterable[stored.StateBatch]) -> list[StateBatch]:
    return [
        StateBatch(
            batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count
        )
        for batch in batches
    ]


def stored_batches(batches: Sequence[StateBatch]) -> list[stored.StateBatch]:
    return [
        stored.StateBatch(
            first_offset=batch.first_offset,
            last_offset=batch.last_offset,
            delivery_state=batch.delivery_state,
            delivery_count=batch.delivery_count,
        )
        for batch in batches
    ]


def snapshot_record(key: ShareKey, value: stored.ShareSnapshotValue) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareSnapshotKey(
            group_id=key.group_id, topic_id=key.topic_id, partition=key.partition
        ),
        value,
    )


def repeated_snapshot(key: ShareKey, state: ShareState, *, now_ms: int) -> CoordinatorRecord:
    """A new snapshot of an unchanged state, so that the records before it can be deleted."""
    return snapshot_record(
        key,
        stored.ShareSnapshotValue(
            snapshot_epoch=state.snapshot_epoch + 1,
            state_epoch=state.state_epoch,
            leader_epoch=state.leader_epoch,
            start_offset=state.start_offset,
            delivery_complete_count=state.complete_count,
            create_timestamp=state.created_ms,
            write_timestamp=now_ms,
            state_batches=stored_batches(state.batches),
        ),
    )


def update_record(key: ShareKey, value: stored.ShareUpdateValue) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareUpdateKey(
            group_id=key.group_id, topic_id=key.topic_id, partition=key.partition
        ),
        value,
    )


def tombstone(key: ShareKey) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareSnapshotKey(
            group_id=key.group_id, topic_id=key.topic_id, partition=key.partition
        ),
        None,
    )

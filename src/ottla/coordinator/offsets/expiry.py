"""Offsets expire when they are unused for `offsets.retention.minutes` (KIP-211).

The group decides when the retention starts: when the group became empty, or at the commit, for
example if the group never had members. Offsets of topics that a member is subscribed to do not
expire. A group without members is deleted with its last offset.
"""

from __future__ import annotations

from ottla.coordinator.groups.group import Group
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.offsets.offset_records import offset_tombstone
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import NO_TIMESTAMP, TopicPartition


def expire_offsets(
    group: Group, offsets: Offsets, settings: GroupSettings, *, now_ms: int
) -> tuple[list[CoordinatorRecord], bool]:
    """Tombstones for the expired offsets, and whether the group then has no offsets left."""
    records: list[CoordinatorRecord] = []
    has_left = offsets.has_pending(group.id)
    for topic, partitions in offsets.of_group(group.id).items():
        if group.is_subscribed_to(topic):
            has_left = True
            continue
        for partition, committed in partitions.items():
            if _is_expired(group, committed, settings, now_ms) and not offsets.is_pending(
                group.id, topic, partition
            ):
                records.append(offset_tombstone(group.id, TopicPartition(topic, partition)))
            else:
                has_left = True
    return records, not has_left


def _is_expired(
    group: Group, committed: CommittedOffset, settings: GroupSettings, now_ms: int
) -> bool:
    idle_since = group.offset_idle_since(committed)
    if idle_since is None:
        return False
    if committed.expire_timestamp != NO_TIMESTAMP:
        return now_ms >= committed.expire_timestamp
    return now_ms - idle_since >= settings.offsets_retention_ms

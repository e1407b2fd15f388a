"""Changes of the partitions whose state the share coordinator has for a share group.

A request (a heartbeat, AlterShareGroupOffsets, DeleteShareGroupOffsets or DeleteGroups) first
records here what it is going to do, then the share coordinators do it, and then the result is
recorded. So a coordinator that fails in between leaves no state that no group knows of.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.share.group import ShareGroup
from ottla.coordinator.groups.share.group_records import group_record
from ottla.coordinator.groups.share.state_partitions import StateTopic, Topics
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import ErrorCode, KafkaError, Uuid

# The response of what has no other.
_DONE: Final = Outcome(response=True)


class DeletedStates(NamedTuple):
    """The partitions whose state the share coordinators have to delete."""

    topics: Topics


class ResetStates(NamedTuple):
    """The partitions whose state the share coordinators have to replace, and the state's epoch."""

    topics: Topics
    state_epoch: int


class ShareStateChanges:
    """Created with the coordinator of a partition."""

    def __init__(self, context: GroupContext) -> None:
        self._context = context

    def require(self, group_id: str) -> ShareGroup:
        group = self._context.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND,
                f"Group {group_id} not found."
                if group is None
                else f"Group {group_id} is not a share group.",
            )
        return group

    def has_partitions(self, group_id: str) -> bool:
        """Whether share coordinators may have state of the group."""
        group = self._context.groups.get(group_id)
        by_id = self._context.image.topics.by_id
        return isinstance(group, ShareGroup) and any(
            topic_id in group.state_partitions for topic_id in by_id
        )

    def partitions(self, group_id: str) -> dict[str, list[int]]:
        """The initialized partitions by topic name; none for a group that does not exist."""
        group = self._context.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            return {}
        return {
            topic.name: sorted(topic.partitions)
            for topic in group.state_partitions.initialized.values()
        }

    def initialized(self, group_id: str, topics: Topics) -> Outcome:
        """The share coordinators have the state of these partitions."""
        group = self._context.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            return _DONE
        after = group.state_partitions.with_initialized(topics)
        return Outcome([after.record(group_id)], _DONE.response)

    def not_initialized(self, group_id: str, topics: Topics) -> Outcome:
        """The initialization failed; the next heartbeat starts it again."""
        group = self._context.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            return _DONE
        after = group.state_partitions.without_initializing(topics)
        return Outcome([after.record(group_id)], _DONE.response)

    def reset(self, group_id: str, topics: Topics) -> Outcome:
        """Before AlterShareGroupOffsets. Creates the group if needed. The response is a
        `ResetStates`."""
        known = self._context.groups.get(group_id)
        records = []
        if known is None:
            known = ShareGroup(group_id)
            records.append(group_record(group_id, epoch=0, metadata_hash=0))
        if not isinstance(known, ShareGroup):
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group."
            )
        known.require_may_delete()
        records.append(known.state_partitions.with_initializing(topics).record(group_id))
        return Outcome(records, ResetStates(topics, known.epoch))

    def delete(self, group_id: str, topic_ids: Collection[Uuid] | None) -> Outcome:
        """Before DeleteShareGroupOffsets, or DeleteGroups with None for all topics. The response
        is a `DeletedStates`."""
        group = self.require(group_id)
        group.require_may_delete()
        states = group.state_partitions
        if topic_ids is None:
            topic_ids = [*states.initializing, *states.initialized, *states.deleting]
        by_id = self._context.image.topics.by_id
        names = {
            topic_id: by_id[topic_id].name
            for topic_id in topic_ids
            if topic_id in states and topic_id in by_id
        }
        # A partition that was initialized too late to be recorded is deleted as well.
        topics = {
            topic_id: StateTopic(name, frozenset(by_id[topic_id].partitions))
            for topic_id, name in names.items()
        }
        records = [states.with_deleting(names).record(group_id)] if names else []
        return Outcome(records, DeletedStates(topics))

    def deleted(self, group_id: str, topic_ids: Collection[Uuid]) -> Outcome:
        """The share coordinators have deleted the state of these topics."""
        group = self._context.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            return _DONE
        after = group.state_partitions.without_topics(topic_ids)
        return Outcome([after.record(group_id)], _DONE.response)

    def topics_deleted(self, topic_ids: Collection[Uuid]) -> Outcome:
        """Forgets topics that were deleted. The share coordinators see the deletion themselves."""
        records = []
        for group in self._context.groups:
            if isinstance(group, ShareGroup):
                states = group.state_partitions
                gone = [topic_id for topic_id in topic_ids if topic_id in states]
                if gone:
                    records.append(states.without_topics(gone).record(group.id))
        return Outcome(records)

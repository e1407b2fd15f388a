"""The leader of a classic group: assigns the partitions to all members."""

from __future__ import annotations

from ottla.client.cluster import ClientCluster
from ottla.client.groups.assignors import ClassicAssignor
from ottla.client.groups.classic.protocol_bytes import decode_subscription, encode_assignment
from ottla.wire.messages.join_group import JoinGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequestAssignment


class GroupLeader:
    """Remembers the partition counts that it has assigned by."""

    def __init__(self, cluster: ClientCluster) -> None:
        self._cluster = cluster
        self._assigned: dict[str, int] = {}

    async def assign(
        self, joined: JoinGroupResponse, assignor: ClassicAssignor, *, watched: frozenset[str]
    ) -> list[SyncGroupRequestAssignment]:
        """Raises ChannelError, KafkaError, and ProtocolError if a member has sent nonsense."""
        members = {
            each.member_id: decode_subscription(each.metadata, each.group_instance_id)
            for each in joined.members
        }
        topics = frozenset().union(*(member.topics for member in members.values()))
        # Also those that only others read: their changes are for the leader to notice.
        self._cluster.watch_topics(topics | watched)
        await self._cluster.refresh(topics)
        self._assigned = self._counts(topics)
        if joined.skip_assignment:
            return []
        found = assignor.assign(
            members, {topic: count for topic, count in self._assigned.items() if count}
        )
        return [
            SyncGroupRequestAssignment(
                member_id=member_id, assignment=encode_assignment(partitions)
            )
            for member_id, partitions in found.items()
        ]

    def is_outdated(self) -> bool:
        """Whether the topics have other partitions than those that were assigned."""
        return self._assigned != self._counts(frozenset(self._assigned))

    def _counts(self, topics: frozenset[str]) -> dict[str, int]:
        known = self._cluster.metadata.topics
        return {
            topic: len(known[topic].partitions) if topic in known else 0 for topic in sorted(topics)
        }

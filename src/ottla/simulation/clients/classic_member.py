"""A group member that uses the classic protocol."""

from __future__ import annotations

from ottla.model import TopicPartition
from ottla.simulation.clients.group_member import GroupMember


class SimulatedClassicMember(GroupMember):
    """One of the members assigns. In each generation, a member owns what it has then."""

    protocol = "classic"

    def _owned_in_epoch(self, added: frozenset[TopicPartition]) -> frozenset[TopicPartition]:
        del added
        return self._consumer.assignment()

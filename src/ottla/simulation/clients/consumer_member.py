"""A group member that uses the consumer protocol (KIP-848)."""

from __future__ import annotations

from ottla.simulation.clients.group_member import GroupMember


class SimulatedConsumerMember(GroupMember):
    """The coordinator assigns. A member reaches an epoch when it owns nothing but what it has been
    assigned in that epoch."""

    protocol = "consumer"

    def _note_owned(self) -> None:
        self._own(self._consumer.assignment())

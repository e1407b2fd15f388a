"""A group member that uses the consumer protocol (KIP-848)."""

from __future__ import annotations

from ottla.simulation.clients.group_member import GroupMember


class SimulatedConsumerMember(GroupMember):
    """The coordinator assigns."""

    protocol = "consumer"

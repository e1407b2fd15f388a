"""Restores a classic group from its record."""

from __future__ import annotations

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.member import ClassicMember
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.wire.stored.groups import GroupMetadataValue


def replayed_group(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """The group of the record: Stable with its members, or Empty."""
    timestamp = value.current_state_timestamp
    group = ClassicGroup(
        group_id,
        now_ms=None if timestamp < 0 else timestamp,
        state=ClassicState.STABLE if value.members else ClassicState.EMPTY,
    )
    for member in value.members:
        group.add(
            ClassicMember(
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                # Version 0 has only one timeout.
                member.session_timeout
                if member.rebalance_timeout < 0
                else member.rebalance_timeout,
                member.session_timeout,
                value.protocol_type,
                {value.protocol or "": member.subscription},
                member.assignment,
            )
        )
    group.protocol_type = value.protocol_type
    group.generation = value.generation
    group.protocol = value.protocol
    group.leader = value.leader
    group.note_topics()
    return group

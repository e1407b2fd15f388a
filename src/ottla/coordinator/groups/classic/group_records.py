"""Classic groups as records of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import NO_TIMESTAMP
from ottla.wire.stored.groups import GroupMetadataKey, GroupMetadataValue, MemberMetadata

_VERSION: Final = 3


def group_record(group: ClassicGroup, assignments: Mapping[str, bytes]) -> CoordinatorRecord:
    """The record of the group's current state with the given assignments."""
    protocol = group.protocol
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation,
        protocol=protocol,
        leader=group.leader,
        current_state_timestamp=(
            NO_TIMESTAMP if group.state_timestamp is None else group.state_timestamp
        ),
        members=[
            MemberMetadata(
                member_id=member.id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=b"" if protocol is None else member.metadata_for(protocol),
                assignment=assignments.get(member.id, b""),
            )
            for member in group.members.values()
        ],
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.id), value, _VERSION)

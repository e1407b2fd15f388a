"""The responses of DescribeGroups and ListGroups."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.groups.group import Group
from ottla.coordinator.groups.groups import Groups
from ottla.model import ErrorCode
from ottla.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from ottla.wire.messages.list_groups import ListedGroup

# From this version on a missing group is an error; before, it is shown as Dead.
_NOT_FOUND_VERSION: Final = 6


def describe_classic(groups: Groups, group_id: str, *, version: int) -> DescribedGroup:
    """Describes a classic group. A group of another type counts as not found."""
    group = groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        described = DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD.value)
        if version >= _NOT_FOUND_VERSION:
            described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            described.error_message = (
                f"Group {group_id} not found."
                if group is None
                else f"Group {group_id} is not a classic group."
            )
        return described
    # The members' metadata is consistent only while they are all in one generation.
    is_stable = group.state is ClassicState.STABLE
    protocol = (group.protocol or "") if is_stable else ""
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type,
        protocol_data=protocol,
        members=[
            DescribedGroupMember(
                member_id=member.id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata_for(protocol) if is_stable else b"",
                member_assignment=member.assignment if is_stable else b"",
            )
            for member in group.members.values()
        ],
    )


def list_groups(
    groups: Groups, *, states: Collection[str], types: Collection[str]
) -> list[ListedGroup]:
    """The groups with one of the states and types, ignoring case. An empty filter matches all."""
    state_names = {state.lower() for state in states}
    type_names = {kind.lower() for kind in types}
    return [
        ListedGroup(
            group_id=group.id,
            protocol_type=group.protocol_type,
            group_state=group.state_name,
            group_type=group.type.value,
        )
        for group in groups
        if _is_among(group.state_name, state_names) and _is_among(_kind(group), type_names)
    ]


def _is_among(value: str, names: Collection[str]) -> bool:
    return not names or value.lower() in names


def _kind(group: Group) -> str:
    return group.type.value

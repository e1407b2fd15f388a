"""Groups of every kind: list, describe, delete, and their members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.channels import UnknownRequestError
from ottla.client.administration.authorized import authorized_operations
from ottla.client.administration.requests import (
    AdminRequests,
    Outcomes,
    node_error,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.client.cluster import CoordinatorKind
from ottla.client.errors import ClientError
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.security.acls.acl import AclOperation
from ottla.wire.errors import ProtocolError
from ottla.wire.messages import consumer_group_describe, describe_groups
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.stored.consumer_protocol import ConsumerProtocolAssignment

CONSUMERS: Final = "consumer"
CLASSIC: Final = "classic"
_DEAD: Final = "Dead"
_VERSION_BYTES: Final = 2
# The group is of another kind, or the cluster has no groups of this one.
_OF_ANOTHER_KIND: Final = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)


class ListedGroup(NamedTuple):
    """`type` is consumer, classic, share or streams, and `state` such as Stable or Empty: Kafka's
    own words, empty if the broker is too old to say them."""

    id: str
    type: str
    state: str
    protocol_type: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """`assigned` are the partitions that it reads; `target` those that it will read when it has
    reconciled, None for a member of the classic protocol, as are its epoch and its rack."""

    id: str
    instance_id: str | None
    client_id: str
    host: str
    assigned: tuple[TopicPartition, ...]
    target: tuple[TopicPartition, ...] | None = None
    epoch: int | None = None
    rack: str | None = None
    subscribed_topics: tuple[str, ...] = ()
    subscribed_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """`protocol_type` is empty for a group without members that has only offsets. The epochs are
    None for a classic group."""

    id: str
    type: str
    state: str
    protocol_type: str
    assignor: str
    coordinator: int
    members: tuple[MemberDescription, ...]
    epoch: int | None = None
    assignment_epoch: int | None = None
    authorized_operations: frozenset[AclOperation] | None = None


class GroupOperations(AdminRequests):
    """The methods of `Admin` for groups."""

    async def list_groups(
        self,
        *,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        timeout: float | None = None,
    ) -> list[ListedGroup]:
        """All groups, or those in these states and of these types, in order of their ids. Raises
        the error of a broker that does not list its groups."""
        request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))

        async def exchange(broker: int) -> list[ListedGroup]:
            answer = await self._ask_node(broker, request)
            require(answer.error_code)
            return [
                ListedGroup(
                    each.group_id,
                    each.group_type.lower(),
                    each.group_state,
                    each.protocol_type,
                    broker,
                )
                for each in answer.groups
            ]

        found = await self._each_broker("list groups", None, exchange, timeout)
        return sorted(group for groups in found.all().values() for group in groups)

    async def describe_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """Describes groups of consumers, of either protocol, and other classic groups. A group that
        does not exist has the error GROUP_ID_NOT_FOUND."""

        async def exchange(node_id: int, ids: Sequence[str]) -> Outcomes[str, GroupDescription]:
            found = await self._describe_consumers(
                node_id, ids, with_operations=include_authorized_operations
            )
            rest = [each for each in ids if is_of_another_kind(found.get(each))]
            if rest:
                found |= await self._describe_classic(
                    node_id, rest, with_operations=include_authorized_operations
                )
            return found

        return await self._each_key(
            "describe groups", CoordinatorKind.GROUP, groups, exchange, timeout
        )

    async def describe_group(
        self, group_id: str, *, timeout: float | None = None
    ) -> GroupDescription:
        """Describes one group. Raises GroupIdNotFoundError and others."""
        return (await self.describe_groups([group_id], timeout=timeout))[group_id]

    async def delete_groups(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Deletes groups that have no members, with their offsets."""

        async def exchange(node_id: int, ids: Sequence[str]) -> Outcomes[str, None]:
            answer = await self._ask_node(node_id, DeleteGroupsRequest(groups_names=list(ids)))
            return {each.group_id: outcome(None, each.error_code) for each in answer.results}

        return await self._each_key(
            "delete groups", CoordinatorKind.GROUP, groups, exchange, timeout
        )

    async def remove_group_members(
        self,
        group_id: str,
        members: Iterable[str] | None = None,
        *,
        instances: Iterable[str] = (),
        reason: str | None = None,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Removes members of a classic group, by their ids and by the ids of static instances; None
        removes all. A member that still runs joins again."""
        by_id = await self._members_of(group_id, timeout) if members is None else list(members)
        identities = [MemberIdentity(member_id=each, reason=reason) for each in by_id]
        identities += [MemberIdentity(group_instance_id=each, reason=reason) for each in instances]
        if not identities:
            return Results({})

        async def attempt(node_id: int) -> Results[str, None]:
            request = LeaveGroupRequest(group_id=group_id, members=identities)
            answer = await self._ask_node(node_id, request)
            require(answer.error_code)
            return Results(
                {
                    each.member_id or each.group_instance_id: outcome(None, each.error_code)
                    for each in answer.members
                }
            )

        return await self._of_coordinator(
            f"remove members of {group_id}", CoordinatorKind.GROUP, group_id, attempt, timeout
        )

    async def _members_of(self, group_id: str, timeout: float | None) -> list[str]:
        group = await self.describe_group(group_id, timeout=timeout)
        return [member.id for member in group.members]

    async def _describe_consumers(
        self, node_id: int, ids: Sequence[str], *, with_operations: bool
    ) -> dict[str, GroupDescription | ClientError]:
        request = ConsumerGroupDescribeRequest(
            group_ids=list(ids), include_authorized_operations=with_operations
        )
        try:
            answer = await self._ask_node(node_id, request)
        except UnknownRequestError:
            # An older cluster, which has only classic groups.
            return {}
        return {
            each.group_id: outcome(_consumers(each, node_id), each.error_code, each.error_message)
            for each in answer.groups
        }

    async def _describe_classic(
        self, node_id: int, ids: Sequence[str], *, with_operations: bool
    ) -> dict[str, GroupDescription | ClientError]:
        request = DescribeGroupsRequest(
            groups=list(ids), include_authorized_operations=with_operations
        )
        answer = await self._ask_node(node_id, request)
        return {each.group_id: _classic_or_error(each, node_id) for each in answer.groups}


def is_of_another_kind(found: object) -> bool:
    return found is None or (isinstance(found, KafkaError) and found.code in _OF_ANOTHER_KIND)


def _consumers(group: consumer_group_describe.DescribedGroup, coordinator: int) -> GroupDescription:
    return GroupDescription(
        group.group_id,
        CONSUMERS,
        group.group_state,
        CONSUMERS,
        group.assignor_name,
        coordinator,
        tuple(map(_member, group.members)),
        epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        authorized_operations=authorized_operations(group.authorized_operations),
    )


def _member(member: consumer_group_describe.Member) -> MemberDescription:
    return MemberDescription(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        _partitions(member.assignment),
        _partitions(member.target_assignment),
        member.member_epoch,
        member.rack_id,
        tuple(member.subscribed_topic_names),
        member.subscribed_topic_regex or None,
    )


def _partitions(assignment: consumer_group_describe.Assignment) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(
            TopicPartition(topic.topic_name, index)
            for topic in assignment.topic_partitions
            for index in topic.partitions
        )
    )


def _classic_or_error(
    group: describe_groups.DescribedGroup, coordinator: int
) -> GroupDescription | ClientError:
    """Before version 6, a group that does not exist is a dead one."""
    if group.error_code:
        return node_error(group.error_code, group.error_message)
    if group.group_state == _DEAD:
        return node_error(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group.group_id}")
    has_consumers = group.protocol_type in ("", CONSUMERS)
    return GroupDescription(
        group.group_id,
        CLASSIC,
        group.group_state,
        group.protocol_type,
        group.protocol_data,
        coordinator,
        tuple(_classic_member(each, has_consumers=has_consumers) for each in group.members),
        authorized_operations=authorized_operations(group.authorized_operations),
    )


def _classic_member(
    member: describe_groups.DescribedGroupMember, *, has_consumers: bool
) -> MemberDescription:
    return MemberDescription(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        assigned_partitions(member.member_assignment) if has_consumers else (),
    )


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...]:
    """From what a leader of consumers has assigned to a member; nothing if it cannot be decoded."""
    if not assignment:
        return ()
    try:
        # Every later version begins with the fields of the first.
        found, _ = ConsumerProtocolAssignment.decode_from(assignment, 0, _VERSION_BYTES)
    except ProtocolError:
        return ()
    return tuple(
        sorted(
            TopicPartition(each.topic, index)
            for each in found.assigned_partitions
            for index in each.partitions
        )
    )

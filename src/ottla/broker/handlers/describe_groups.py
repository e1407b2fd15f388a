"""DescribeGroups, versions 0 to 6: describes classic groups and their members.

Errors per group are GROUP_AUTHORIZATION_FAILED, those of the coordinator itself, and from version 6
on GROUP_ID_NOT_FOUND; up to version 5 a group that does not exist has the state Dead.
"""

from __future__ import annotations

from functools import partial

from ottla.broker.administration.authorized_operations import authorized_operations
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import run_for_each
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ottla.wire.schema import Message


@handles(ApiKey.DESCRIBE_GROUPS, rights=(Right(AclOperation.DESCRIBE, ResourceType.GROUP),))
def describe_groups(
    context: RequestContext,
    request: DescribeGroupsRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    def describe(group_id: str, groups: GroupCoordinator) -> Outcome:
        described = groups.describe_classic(group_id, version=context.api_version)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = authorized_operations(
                context.rights, ResourceType.GROUP, group_id
            )
        return Outcome(response=described)

    def refuse(group_id: str, error: KafkaError) -> DescribedGroup:
        return DescribedGroup(error_code=error.code, error_message=error.message, group_id=group_id)

    return run_for_each(
        groups,
        request.groups,
        describe,
        refuse,
        lambda found: DescribeGroupsResponse(groups=list(found)),
        check=partial(context.rights.require, AclOperation.DESCRIBE, ResourceType.GROUP),
    )

"""DescribeGroups, versions 0 to 6: describes classic groups and their members.

Errors per group are GROUP_AUTHORIZATION_FAILED, those of the coordinator itself, and from version 6
on GROUP_ID_NOT_FOUND; up to version 5 a group that does not exist has the state Dead.
"""

from __future__ import annotations

from ottla.broker.administration.authorized_operations import authorized_operations
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
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
    gathered = Gathered(
        len(request.groups), lambda found: DescribeGroupsResponse(groups=list(found))
    )
    for index, group_id in enumerate(request.groups):
        _describe(groups, context, request, group_id, gathered, index)
    return gathered.pending.answer


def _describe(
    groups: CoordinatorShards[GroupCoordinator],
    context: RequestContext,
    request: DescribeGroupsRequest,
    group_id: str,
    gathered: Gathered,
    index: int,
) -> None:
    def describe(groups: GroupCoordinator) -> Outcome:
        described = groups.describe_classic(group_id, version=context.api_version)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = authorized_operations(
                context.rights, ResourceType.GROUP, group_id
            )
        return Outcome(response=described)

    def refuse(error: KafkaError) -> DescribedGroup:
        return DescribedGroup(error_code=error.code, error_message=error.message, group_id=group_id)

    reply = gathered.reply(index)
    try:
        context.rights.require(AclOperation.DESCRIBE, ResourceType.GROUP, group_id)
    except KafkaError as error:
        reply(refuse(error))
        return
    groups.submit(group_id, describe, reply, refuse)

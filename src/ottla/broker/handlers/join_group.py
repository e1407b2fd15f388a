"""JoinGroup, versions 0 to 9: a member joins a classic group, or rejoins it in a rebalance.

The response waits for the other members. Errors: GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID,
INVALID_SESSION_TIMEOUT, MEMBER_ID_REQUIRED, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED, and those of the coordinator itself:
NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import client_of
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(ApiKey.JOIN_GROUP, rights=(Right(AclOperation.READ, ResourceType.GROUP),))
def join_group(
    context: RequestContext,
    request: JoinGroupRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
    owner_limits: OwnerLimits,
) -> Message | Pending:
    def refuse(error: KafkaError) -> JoinGroupResponse:
        return JoinGroupResponse(error_code=error.code, member_id=request.member_id)

    try:
        context.rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
        owner_limits.groups.check(context.rights.principal.name, request.group_id)
    except KafkaError as error:
        return refuse(error)
    if not request.group_id:
        return JoinGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID, member_id=request.member_id)
    pending, client = Pending(), client_of(context)
    groups.submit(
        request.group_id,
        lambda groups: groups.join(client, request, pending.resolve),
        pending.resolve,
        refuse,
    )
    return pending.answer

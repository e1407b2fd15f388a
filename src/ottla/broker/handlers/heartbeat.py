"""Heartbeat, versions 0 to 4: keeps up the session of a classic group's member.

Errors: GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS if the member must rejoin, NOT_COORDINATOR. While the
coordinator is loading, the response has no error: sessions start when the loading ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(ApiKey.HEARTBEAT, rights=(Right(AclOperation.READ, ResourceType.GROUP),))
def heartbeat(
    context: RequestContext,
    request: HeartbeatRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    try:
        context.rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
    except KafkaError as error:
        return _refuse(error)
    if not request.group_id:
        return HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    return groups.run(request.group_id, lambda groups: groups.heartbeat(request), _refuse)


def _refuse(error: KafkaError) -> HeartbeatResponse:
    if error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return HeartbeatResponse()
    return HeartbeatResponse(error_code=error.code)

"""SyncGroup, versions 0 to 5: distributes the assignments of a classic group.

The group's leader sends the assignments; every member gets its own once they are committed. Errors:
GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS, INCONSISTENT_GROUP_PROTOCOL (from version 5 on also
without a protocol type or name), and those of the coordinator itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


_PROTOCOL_VERSION: Final = 5


@handles(ApiKey.SYNC_GROUP, rights=(Right(AclOperation.READ, ResourceType.GROUP),))
def sync_group(
    context: RequestContext,
    request: SyncGroupRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    if context.api_version >= _PROTOCOL_VERSION and (
        request.protocol_type is None or request.protocol_name is None
    ):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    try:
        context.rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
    except KafkaError as error:
        return _refuse(error)
    if not request.group_id:
        return SyncGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    pending = Pending()
    groups.submit(
        request.group_id,
        lambda groups: groups.sync(request, pending.resolve),
        pending.resolve,
        _refuse,
    )
    return pending.answer


def _refuse(error: KafkaError) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error.code)

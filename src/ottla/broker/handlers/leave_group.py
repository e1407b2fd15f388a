"""LeaveGroup, versions 0 to 5: removes members from a group.

Up to version 2 there is one member, and its error is the error of the whole response. Errors:
GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, and those of
the coordinator itself.
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
from ottla.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


_BATCHED_VERSION: Final = 3


@handles(ApiKey.LEAVE_GROUP, rights=(Right(AclOperation.READ, ResourceType.GROUP),))
def leave_group(
    context: RequestContext,
    request: LeaveGroupRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    if not context.rights.allows(AclOperation.READ, ResourceType.GROUP, request.group_id):
        return LeaveGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not request.group_id:
        return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    members = request.members
    if context.api_version < _BATCHED_VERSION:
        members = [MemberIdentity(member_id=request.member_id)]

    def refuse(error: KafkaError) -> LeaveGroupResponse:
        if error.code != ErrorCode.UNKNOWN_MEMBER_ID:
            return LeaveGroupResponse(error_code=error.code)
        # The group does not exist, so none of the members does.
        return LeaveGroupResponse(
            members=[
                MemberResponse(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                    error_code=error.code,
                )
                for member in members
            ]
        )

    pending = Pending()

    def reply(response: LeaveGroupResponse) -> None:
        if context.api_version < _BATCHED_VERSION and not response.error_code:
            (only,) = response.members
            response.error_code = only.error_code
        pending.resolve(response)

    groups.submit(
        request.group_id, lambda groups: groups.leave(request.group_id, members), reply, refuse
    )
    return pending.answer

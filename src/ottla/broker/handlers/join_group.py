"""JoinGroup, versions 0 to 9: a member enters a classic group, or its next generation.

The answer waits for the other members. Errors: INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT,
MEMBER_ID_REQUIRED, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, INCONSISTENT_GROUP_PROTOCOL,
GROUP_MAX_SIZE_REACHED, and those of the coordinator itself: NOT_COORDINATOR,
COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from ottla.broker.broker import Broker
from ottla.broker.coordinators.group_requests import client_of
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode, KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.schema import Message


@handles(ApiKey.JOIN_GROUP)
def join_group(
    broker: Broker, context: RequestContext, request: JoinGroupRequest
) -> Message | Pending:
    def refuse(error: KafkaError) -> JoinGroupResponse:
        return JoinGroupResponse(error_code=error.code, member_id=request.member_id)

    if not request.group_id:
        return JoinGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID, member_id=request.member_id)
    pending, client = Pending(), client_of(context)
    broker.coordinators.groups.submit(
        request.group_id,
        lambda groups: groups.join(client, request, pending.resolve),
        pending.resolve,
        refuse,
    )
    return pending.answer

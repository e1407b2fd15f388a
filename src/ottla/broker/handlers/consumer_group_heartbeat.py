"""ConsumerGroupHeartbeat, versions 0 and 1: a member of the consumer protocol (KIP-848).

Version 1 has regular expressions and ids that members make themselves. Errors: INVALID_REQUEST,
GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID,
FENCED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR, INVALID_REGULAR_EXPRESSION, GROUP_MAX_SIZE_REACHED, and
those of the coordinator itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import client_of
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat(
    context: RequestContext,
    request: ConsumerGroupHeartbeatRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    client = client_of(context)
    return groups.run(
        request.group_id, lambda groups: groups.consumer_heartbeat(client, request), _refuse
    )


def _refuse(error: KafkaError) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)

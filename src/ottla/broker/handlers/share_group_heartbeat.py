"""ShareGroupHeartbeat, version 1: members of share groups (KIP-932).

A heartbeat that subscribes to partitions which the group has no state for first creates that state
at the share coordinators. Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED without
DESCRIBE on a topic, INVALID_REQUEST, UNSUPPORTED_VERSION without the feature share.version,
UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED,
POLICY_VIOLATION for a tenant or a user that has too many groups, and those of the coordinators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import client_of
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.broker.sharing.group_states import ask_group, initialize_states
from ottla.broker.sharing.offered import check_offered
from ottla.model import KafkaError
from ottla.runtime.tasks import Tasks
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates
    from ottla.broker.sharing.sharing import Sharing
    from ottla.coordinator.groups.client import Client
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.groups.share.heartbeats import ShareHeartbeat


@handles(
    ApiKey.SHARE_GROUP_HEARTBEAT,
    rights=(
        Right(AclOperation.READ, ResourceType.GROUP),
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
    ),
)
def share_group_heartbeat(
    context: RequestContext,
    request: ShareGroupHeartbeatRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    sharing: Sharing,
    owner_limits: OwnerLimits,
    tasks: Tasks,
) -> Message | Pending:
    try:
        check_offered(cluster)
        rights = context.rights
        rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
        owner_limits.groups.check(rights.principal.name, request.group_id)
        if not rights.is_unrestricted:
            for topic in request.subscribed_topic_names or ():
                rights.require(AclOperation.DESCRIBE, ResourceType.TOPIC, topic)
    except KafkaError as error:
        return _refuse(error)
    client = client_of(context)
    pending = Pending()

    def reply(found: Any) -> None:
        if isinstance(found, ShareGroupHeartbeatResponse):
            pending.resolve(found)
        elif not found.uninitialized or tasks.is_closed:
            pending.resolve(found.response)
        else:
            work = _initialize(groups, sharing.states, client, request, found, pending)
            tasks.start(f"initialize share group {request.group_id}", work)

    groups.submit(
        request.group_id, lambda machine: machine.share_heartbeat(client, request), reply, _refuse
    )
    return pending.answer


async def _initialize(
    groups: CoordinatorShards[GroupCoordinator],
    states: ShareStates,
    client: Client,
    request: ShareGroupHeartbeatRequest,
    found: ShareHeartbeat,
    pending: Pending,
) -> None:
    """Creates the missing state, and repeats the heartbeat: the member then gets partitions."""
    try:
        errors = await initialize_states(
            groups,
            states,
            request.group_id,
            found.uninitialized,
            {},
            state_epoch=found.state_epoch,
        )
        for error in errors.values():
            raise error
        request.member_epoch = found.response.member_epoch
        again: ShareHeartbeat = await ask_group(
            groups, request.group_id, lambda machine: machine.share_heartbeat(client, request)
        )
    except KafkaError as error:
        pending.resolve(_refuse(error))
        return
    # The first response may have had an assignment that the second does not repeat.
    again.response.assignment = again.response.assignment or found.response.assignment
    pending.resolve(again.response)


def _refuse(error: KafkaError) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)

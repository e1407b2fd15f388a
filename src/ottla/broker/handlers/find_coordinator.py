"""FindCoordinator, versions 0 to 6: the coordinators of groups and transactional ids.

The coordinator of a group is the leader of its partition of `__consumer_offsets`, that of a
transactional id the leader of its partition of `__transaction_state`, that of a share partition
(`group:topic id:partition`, only for brokers) the leader of its partition of
`__share_group_state`. The topics are created at the first request. Errors: GROUP_,
TRANSACTIONAL_ID_ and CLUSTER_AUTHORIZATION_FAILED, COORDINATOR_NOT_AVAILABLE while there is no
leader that is reachable on the client's listener; INVALID_REQUEST for key types that the version
does not have, and for malformed keys. From version 4 on a request has many keys, and each has its
own result.

Without a leader, the response waits for an election, for at most `_ELECTION_SECONDS_MAX`, because
librdkafka retries a failed FindCoordinator only twice, 100 ms apart. After that, operations that
need the coordinator hang.
"""

from __future__ import annotations

from collections.abc import Awaitable
from enum import IntEnum
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.leader_changes import LeaderChanges
from ottla.broker.control.suspects import Suspects
from ottla.broker.coordinators.internal_topics import create_internal_topic
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.listener_view import ListenerView
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.coordinator.runtime.placement import partition_for
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.shares.share_key import parse_share_key
from ottla.wire.apis import ApiKey
from ottla.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)


class CoordinatorType(IntEnum):
    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_BATCHED_VERSION: Final = 4
_SHARE_VERSION: Final = 6
_NO_NODE: Final = -1
# As long as a node stays suspected (control/suspects.py).
_ELECTION_SECONDS_MAX: Final = 1.0

_TOPICS: Final[dict[int, str]] = {
    CoordinatorType.GROUP: CONSUMER_OFFSETS,
    CoordinatorType.TRANSACTION: TRANSACTION_STATE,
    CoordinatorType.SHARE: SHARE_GROUP_STATE,
}
_RESOURCE_TYPES: Final[dict[int, ResourceType]] = {
    CoordinatorType.GROUP: ResourceType.GROUP,
    CoordinatorType.TRANSACTION: ResourceType.TRANSACTIONAL_ID,
}


@handles(
    ApiKey.FIND_COORDINATOR,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.GROUP),
        Right(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),
    ),
)
def find_coordinator(
    context: RequestContext,
    request: FindCoordinatorRequest,
    *,
    cluster: ClusterView,
    changes: MetadataChanges,
    clock: Clock,
    suspects: Suspects,
    leader_changes: LeaderChanges,
) -> FindCoordinatorResponse | Awaitable[FindCoordinatorResponse]:
    topic = _TOPICS.get(request.key_type)
    is_missing = topic is not None and topic not in cluster.image.topics.by_name
    if topic is not None and is_missing and _is_any_allowed(context, request):
        return _create_and_find(
            cluster, changes, clock, suspects, leader_changes, context, request, topic
        )
    response = _find_all(cluster, suspects, context, request)
    if topic is None or not _lacks_leader(response):
        return response
    return _find_elected(cluster, clock, suspects, leader_changes, context, request)


async def _create_and_find(
    cluster: ClusterView,
    changes: MetadataChanges,
    clock: Clock,
    suspects: Suspects,
    leader_changes: LeaderChanges,
    context: RequestContext,
    request: FindCoordinatorRequest,
    topic: str,
) -> FindCoordinatorResponse:
    try:
        await create_internal_topic(cluster, changes, topic)
    except KafkaError as error:
        return _response(
            context,
            [
                _refuse(key, _rights_error(context, request.key_type, key) or error)
                for key in _keys(context, request)
            ],
        )
    return await _find_elected(cluster, clock, suspects, leader_changes, context, request)


async def _find_elected(
    cluster: ClusterView,
    clock: Clock,
    suspects: Suspects,
    leader_changes: LeaderChanges,
    context: RequestContext,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse:
    end = clock.monotonic() + _ELECTION_SECONDS_MAX
    response = _find_all(cluster, suspects, context, request)
    while _lacks_leader(response) and (left := end - clock.monotonic()) > 0:
        await leader_changes.wait(seconds=left)
        response = _find_all(cluster, suspects, context, request)
    return response


def _lacks_leader(response: FindCoordinatorResponse) -> bool:
    codes = [response.error_code, *(each.error_code for each in response.coordinators)]
    return ErrorCode.COORDINATOR_NOT_AVAILABLE in codes


def _find_all(
    cluster: ClusterView,
    suspects: Suspects,
    context: RequestContext,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse:
    found = []
    for key in _keys(context, request):
        try:
            _check_type(request.key_type, context.api_version)
            refusal = _rights_error(context, request.key_type, key)
            if refusal is not None:
                raise refusal
            if request.key_type == CoordinatorType.SHARE:
                parse_share_key(key)
            found.append(_find(cluster, suspects, context, key, _TOPICS[request.key_type]))
        except KafkaError as error:
            found.append(_refuse(key, error))
    return _response(context, found)


def _keys(context: RequestContext, request: FindCoordinatorRequest) -> list[str]:
    return [request.key] if context.api_version < _BATCHED_VERSION else request.coordinator_keys


def _is_any_allowed(context: RequestContext, request: FindCoordinatorRequest) -> bool:
    return any(
        _rights_error(context, request.key_type, key) is None for key in _keys(context, request)
    )


def _rights_error(context: RequestContext, key_type: int, key: str) -> KafkaError | None:
    try:
        if key_type == CoordinatorType.SHARE:
            context.rights.require(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)
        else:
            context.rights.require(AclOperation.DESCRIBE, _RESOURCE_TYPES[key_type], key)
    except KafkaError as error:
        return error
    return None


def _check_type(key_type: int, version: int) -> None:
    is_known = key_type in CoordinatorType.__members__.values()
    if not is_known or (key_type == CoordinatorType.SHARE and version < _SHARE_VERSION):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"version {version} does not support keys of type {key_type}"
        )


def _find(
    cluster: ClusterView, suspects: Suspects, context: RequestContext, key: str, topic_name: str
) -> Coordinator:
    topic = cluster.image.topics.by_name.get(topic_name)
    view = ListenerView(cluster.image, context.listener, suspects=suspects.current())
    if topic is not None:
        index = partition_for(key, partition_count=len(topic.partitions))
        registration = topic.partitions[index]
        if not view.leader_error(registration) and view.is_reachable(registration.leader):
            node_id, endpoint = registration.leader, view.all_brokers[registration.leader].endpoint
            return Coordinator(key=key, node_id=node_id, host=endpoint.host, port=endpoint.port)
    raise KafkaError(
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        f"the partition of {topic_name} for {key!r} has no leader; try again",
    )


def _refuse(key: str, error: KafkaError) -> Coordinator:
    return Coordinator(
        key=key,
        node_id=_NO_NODE,
        port=_NO_NODE,
        error_code=error.code,
        error_message=error.message,
    )


def _response(context: RequestContext, found: list[Coordinator]) -> FindCoordinatorResponse:
    if context.api_version >= _BATCHED_VERSION:
        return FindCoordinatorResponse(coordinators=found)
    (only,) = found
    return FindCoordinatorResponse(
        error_code=only.error_code,
        error_message=only.error_message,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )

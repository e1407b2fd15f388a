"""AlterShareGroupOffsets, version 0: sets start offsets of a share group without members (KIP-932).

Errors: GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND for a group of another
type, NON_EMPTY_GROUP, UNSUPPORTED_VERSION without the feature share.version, and those of the group
coordinator; per partition: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, and those of the
share coordinator.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.sharing.group_states import ask_group, initialize_states
from ottla.broker.sharing.offered import check_offered
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages import alter_share_group_offsets as wire

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates
    from ottla.broker.sharing.sharing import Sharing
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.groups.share.state_changes import ResetStates


@handles(
    ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    rights=(
        Right(AclOperation.READ, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
)
async def alter_share_group_offsets(
    context: RequestContext,
    request: wire.AlterShareGroupOffsetsRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    sharing: Sharing,
) -> wire.AlterShareGroupOffsetsResponse:
    group_id = request.group_id
    try:
        check_offered(cluster)
        context.rights.require(AclOperation.READ, ResourceType.GROUP, group_id)
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "a group's id cannot be empty")
        responses, offsets = _checked(context, request, cluster)
        errors = {}
        if offsets:
            errors = await _alter(groups, sharing.states, group_id, cluster, offsets)
    except KafkaError as error:
        return wire.AlterShareGroupOffsetsResponse(
            error_code=error.code, error_message=error.message
        )
    for topic in responses:
        for each in topic.partitions:
            failed = errors.get((topic.topic_id, each.partition_index))
            if failed is not None:
                each.error_code, each.error_message = failed.code, failed.message
    return wire.AlterShareGroupOffsetsResponse(responses=responses)


def _checked(
    context: RequestContext, request: wire.AlterShareGroupOffsetsRequest, cluster: ClusterView
) -> tuple[list[wire.AlterShareGroupOffsetsResponseTopic], dict[tuple[Uuid, int], int]]:
    """The response without errors of coordinators, and the start offsets of valid partitions."""
    responses, offsets = [], {}
    for topic in request.topics:
        known = cluster.image.topics.by_name.get(topic.topic_name)
        code = ErrorCode.NONE
        if not context.rights.allows(AclOperation.READ, ResourceType.TOPIC, topic.topic_name):
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif known is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answer = wire.AlterShareGroupOffsetsResponseTopic(topic_name=topic.topic_name)
        responses.append(answer)
        if known is not None and not code:
            answer.topic_id = known.id
        for each in topic.partitions:
            error = code
            if not error and known is not None:
                if each.partition_index in known.partitions:
                    offsets[known.id, each.partition_index] = each.start_offset
                else:
                    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            answer.partitions.append(
                wire.AlterShareGroupOffsetsResponsePartition(
                    partition_index=each.partition_index, error_code=error
                )
            )
    return responses, offsets


async def _alter(
    groups: CoordinatorShards[GroupCoordinator],
    states: ShareStates,
    group_id: str,
    cluster: ClusterView,
    offsets: dict[tuple[Uuid, int], int],
) -> dict[tuple[Uuid, int], KafkaError]:
    from ottla.coordinator.groups.share.state_partitions import StateTopic

    by_id = cluster.image.topics.by_id
    numbers: defaultdict[Uuid, set[int]] = defaultdict(set)
    for topic_id, number in offsets:
        numbers[topic_id].add(number)
    topics = {
        topic_id: StateTopic(by_id[topic_id].name, frozenset(found))
        for topic_id, found in numbers.items()
    }
    reset: ResetStates = await ask_group(
        groups, group_id, lambda machine: machine.share_states.reset(group_id, topics)
    )
    return await initialize_states(
        groups, states, group_id, topics, offsets, state_epoch=reset.state_epoch
    )

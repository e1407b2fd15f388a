"""DeleteShareGroupOffsets, version 0: deletes a share group's offsets in whole topics (KIP-932).

Errors: GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP,
UNSUPPORTED_VERSION without the feature share.version, and those of the group coordinator; per
topic: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION also for a topic without offsets, and
those of the share coordinator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.sharing.group_states import ask_group, delete_states
from ottla.broker.sharing.offered import check_offered
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages import delete_share_group_offsets as wire

if TYPE_CHECKING:
    from ottla.broker.sharing.sharing import Sharing
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.groups.share.state_changes import DeletedStates


@handles(
    ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    rights=(
        Right(AclOperation.DELETE, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
)
async def delete_share_group_offsets(
    context: RequestContext,
    request: wire.DeleteShareGroupOffsetsRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    sharing: Sharing,
) -> wire.DeleteShareGroupOffsetsResponse:
    group_id = request.group_id
    try:
        check_offered(cluster)
        context.rights.require(AclOperation.DELETE, ResourceType.GROUP, group_id)
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "a group's id cannot be empty")
        responses = [_checked(context, topic.topic_name, cluster) for topic in request.topics]
        wanted = [topic.topic_id for topic in responses if not topic.error_code]
        deleted: DeletedStates = await ask_group(
            groups, group_id, lambda machine: machine.share_states.delete(group_id, wanted)
        )
        errors = await delete_states(groups, sharing.states, group_id, deleted.topics)
    except KafkaError as error:
        return wire.DeleteShareGroupOffsetsResponse(
            error_code=error.code, error_message=error.message
        )
    for topic in responses:
        if not topic.error_code and topic.topic_id not in deleted.topics:
            topic.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            topic.error_message = "There is no offset information to delete."
        for (topic_id, _), failed in errors.items():
            if topic_id == topic.topic_id:
                topic.error_code, topic.error_message = failed.code, failed.message
    return wire.DeleteShareGroupOffsetsResponse(responses=responses)


def _checked(
    context: RequestContext, name: str, cluster: ClusterView
) -> wire.DeleteShareGroupOffsetsResponseTopic:
    answer = wire.DeleteShareGroupOffsetsResponseTopic(topic_name=name)
    known = cluster.image.topics.by_name.get(name)
    if not context.rights.allows(AclOperation.READ, ResourceType.TOPIC, name):
        answer.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        answer.error_message = "Topic authorization failed."
    elif known is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answer.error_message = "This server does not host this topic-partition."
    else:
        answer.topic_id = known.id
    return answer

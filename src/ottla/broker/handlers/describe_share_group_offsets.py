"""DescribeShareGroupOffsets, versions 0 and 1: start offsets and lag of share groups (KIP-932).

Without topics in the request, all topics with a state are described that the client may describe.
Errors per group: GROUP_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION without the feature share.version,
and those of the group coordinator; per partition: TOPIC_AUTHORIZATION_FAILED,
LEADER_NOT_AVAILABLE if the lag cannot be computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.sharing.group_states import ask_group
from ottla.broker.sharing.offered import check_offered
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages import describe_share_group_offsets as wire

if TYPE_CHECKING:
    from ottla.broker.sharing.share_lag import ShareLags
    from ottla.broker.sharing.sharing import Sharing
    from ottla.coordinator.groups.coordinator import GroupCoordinator

_UNKNOWN = -1


@handles(
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.GROUP),
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
    ),
)
async def describe_share_group_offsets(
    context: RequestContext,
    request: wire.DescribeShareGroupOffsetsRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    sharing: Sharing,
) -> wire.DescribeShareGroupOffsetsResponse:
    found = []
    for wanted in request.groups:
        described = wire.DescribeShareGroupOffsetsResponseGroup(group_id=wanted.group_id)
        try:
            check_offered(cluster)
            context.rights.require(AclOperation.DESCRIBE, ResourceType.GROUP, wanted.group_id)
            described.topics = await _describe(context, wanted, cluster, groups, sharing.lags)
        except KafkaError as error:
            described.error_code, described.error_message = error.code, error.message
        found.append(described)
    return wire.DescribeShareGroupOffsetsResponse(groups=found)


async def _describe(
    context: RequestContext,
    wanted: wire.DescribeShareGroupOffsetsRequestGroup,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    share_lags: ShareLags,
) -> list[wire.DescribeShareGroupOffsetsResponseTopic]:
    rights, by_name = context.rights, cluster.image.topics.by_name
    if wanted.topics is None:
        all_topics: dict[str, list[int]] = await ask_group(
            groups,
            wanted.group_id,
            lambda machine: Outcome(response=machine.share_states.partitions(wanted.group_id)),
        )
        visible = rights.allowed(
            AclOperation.DESCRIBE, ResourceType.TOPIC, all_topics, is_audited=False
        )
        known = {
            name: numbers
            for name, numbers in all_topics.items()
            if name in visible and name in by_name
        }
        return await share_lags.describe(wanted.group_id, known)
    known, others = {}, []
    for topic in wanted.topics:
        error = None
        if not rights.allows(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.topic_name):
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif topic.topic_name in by_name:
            exists = by_name[topic.topic_name].partitions
            known[topic.topic_name] = [each for each in topic.partitions if each in exists]
            continue
        others.append(_unknown(topic, error))
    return await share_lags.describe(wanted.group_id, known) + others


def _unknown(
    topic: wire.DescribeShareGroupOffsetsRequestTopic, error: ErrorCode | None
) -> wire.DescribeShareGroupOffsetsResponseTopic:
    """A topic that does not exist, or that the client may not describe."""
    return wire.DescribeShareGroupOffsetsResponseTopic(
        topic_name=topic.topic_name,
        partitions=[
            wire.DescribeShareGroupOffsetsResponsePartition(
                partition_index=index,
                start_offset=_UNKNOWN,
                error_code=error or ErrorCode.NONE,
                error_message="Topic authorization failed." if error else None,
            )
            for index in topic.partitions
        ],
    )

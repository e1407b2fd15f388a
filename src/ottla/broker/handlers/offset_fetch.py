"""OffsetFetch, versions 1 to 10: returns the committed offsets of groups.

Up to version 7 a request has one group; from version 2 on it can request all topics. Version 10
identifies topics by id. A request for all topics gets those that the client may describe. A
partition without a committed offset gets -1 and no error. Errors per partition:
TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_ID, UNSTABLE_OFFSET_COMMIT if stable offsets are required;
per group: GROUP_AUTHORIZATION_FAILED, UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, and those of the
coordinator itself. Version 1 has no error field for the group, so its error is set on all
partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.network.refused_topics import refused_topics
from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.offsets.fetching import no_offset
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ottla.wire.schema import Message

_GROUP_ERROR_VERSION: Final = 2
_GROUPS_VERSION: Final = 8
_TOPIC_ID_VERSION: Final = 10


@handles(
    ApiKey.OFFSET_FETCH,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.GROUP),
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
    ),
)
def offset_fetch(
    context: RequestContext,
    request: OffsetFetchRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    version = context.api_version
    if version >= _GROUPS_VERSION:
        requested_groups = request.groups
        gathered = Gathered(
            len(requested_groups), lambda found: OffsetFetchResponse(groups=list(found))
        )
    else:
        requested_groups = [_only_group(request)]
        gathered = Gathered(1, lambda found: _one_group_response(found, version))
    for index, requested in enumerate(requested_groups):
        _submit(
            cluster,
            groups,
            context,
            requested,
            require_stable=request.require_stable,
            reply_to=gathered.reply(index),
        )
    return gathered.pending.answer


def _submit(
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    context: RequestContext,
    requested: OffsetFetchRequestGroup,
    *,
    require_stable: bool,
    reply_to: Callable[[OffsetFetchResponseGroup], None],
) -> None:
    rights, is_for_all = context.rights, requested.topics is None
    try:
        rights.require(AclOperation.DESCRIBE, ResourceType.GROUP, requested.group_id)
    except KafkaError as error:
        reply_to(_refuse(requested, error))
        return
    refused = _resolve_topics(cluster, requested, context.api_version)
    refused += _take_unauthorized(rights, requested)

    def fetch(groups: GroupCoordinator) -> Outcome:
        return groups.fetch(requested, require_stable=require_stable)

    def reply(found: OffsetFetchResponseGroup) -> None:
        _add_ids(cluster, found)
        if is_for_all and not rights.is_unrestricted:
            names = (topic.name for topic in found.topics)
            visible = rights.allowed(
                AclOperation.DESCRIBE, ResourceType.TOPIC, names, is_audited=False
            )
            found.topics = [topic for topic in found.topics if topic.name in visible]
        found.topics += refused
        reply_to(found)

    groups.submit(requested.group_id, fetch, reply, lambda error: _refuse(requested, error))


def _only_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _resolve_topics(
    cluster: ClusterView, requested: OffsetFetchRequestGroup, version: int
) -> list[OffsetFetchResponseTopics]:
    """Fills in the names or ids that the request lacks, and returns the errors of unknown topic
    ids. A name without a topic is kept: there may be committed offsets for it."""
    topics, known, unknown = cluster.image.topics, [], []
    for topic in requested.topics or ():
        by_id = version >= _TOPIC_ID_VERSION
        found = topics.by_id.get(topic.topic_id) if by_id else topics.by_name.get(topic.name)
        if found is not None:
            topic.name, topic.topic_id = found.name, found.id
        elif by_id:
            unknown.append(
                OffsetFetchResponseTopics(
                    topic_id=topic.topic_id,
                    partitions=[
                        no_offset(index, ErrorCode.UNKNOWN_TOPIC_ID)
                        for index in topic.partition_indexes
                    ],
                )
            )
            continue
        known.append(topic)
    if requested.topics is not None:
        requested.topics = known
    return unknown


def _take_unauthorized(
    rights: Rights, requested: OffsetFetchRequestGroup
) -> list[OffsetFetchResponseTopics]:
    """Removes the topics that the client may not describe from the request and returns their
    errors."""
    topics = requested.topics or []
    unauthorized = refused_topics(rights, AclOperation.DESCRIBE, topics)
    if not unauthorized:
        return []
    requested.topics = [topic for topic in topics if topic.name not in unauthorized]
    return [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                no_offset(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
        if topic.name in unauthorized
    ]


def _add_ids(cluster: ClusterView, found: OffsetFetchResponseGroup) -> None:
    for topic in found.topics:
        known = cluster.image.topics.by_name.get(topic.name)
        if known is not None:
            topic.topic_id = known.id


def _refuse(requested: OffsetFetchRequestGroup, error: KafkaError) -> OffsetFetchResponseGroup:
    # Version 1 has error fields only for partitions; later versions omit the topics.
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[no_offset(index, error.code) for index in topic.partition_indexes],
        )
        for topic in requested.topics or ()
    ]
    return OffsetFetchResponseGroup(
        group_id=requested.group_id, topics=topics, error_code=error.code
    )


def _one_group_response(
    found: Sequence[OffsetFetchResponseGroup], version: int
) -> OffsetFetchResponse:
    (group,) = found
    shows_topics = not group.error_code or version < _GROUP_ERROR_VERSION
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(name=topic.name, partitions=topic.partitions)
            for topic in (group.topics if shows_topics else ())
        ],
        error_code=group.error_code,
    )

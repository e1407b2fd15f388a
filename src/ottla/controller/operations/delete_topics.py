"""DeleteTopics, versions 1 to 6: by name, or by topic id since version 6.

A deleted topic can be restored for `ottla.delete.retention.ms` (deleted_topics.py). The name
`orders~<topic id>` purges such a topic.

Per topic: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, INVALID_REQUEST
for a duplicate or for neither name nor id, INVALID_TOPIC_EXCEPTION for a topic with coordinator
state, POLICY_VIOLATION for a topic with `ottla.delete.protection`, THROTTLING_QUOTA_EXCEEDED;
TOPIC_DELETION_DISABLED for all topics if `delete.topic.enable` is false.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.coordinator_topics import check_deletable
from ottla.controller.operations.deleted_topics import keeping_records, removal_records
from ottla.metadata import DeletedTopic, MetadataImage, TopicImage
from ottla.metadata.deleted_topic import SEPARATOR, parse_deleted_name
from ottla.model import ZERO_UUID, ErrorCode, KafkaError, Uuid
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.topics import RemoveTopicRecord


def delete_topics(
    image: MetadataImage, request: DeleteTopicsRequest, context: Context
) -> OperationOutcome[DeleteTopicsResponse]:
    rights = context.rights
    requested = [*request.topics, *(DeleteTopicState(name=name) for name in request.topic_names)]
    counts = Counter(map(_key, requested))
    found: dict[Uuid, TopicImage] = {}
    purged: dict[Uuid, DeletedTopic] = {}
    responses = []
    for state in _once(requested):
        try:
            if not context.node.delete_topic_enable:
                raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
            if state.name is not None and SEPARATOR in state.name:
                deleted = _find_deleted(image, state.name, rights, times=counts[_key(state)])
                context.quota.take(len(deleted.partitions))
                purged[deleted.id] = deleted
                continue
            topic = _find(image, state, rights, times=counts[_key(state)])
            if not _may(rights, AclOperation.DELETE, topic.name):
                raise _unauthorized()
            if topic.id in found:
                del found[topic.id]
                raise _invalid("The provided topic name maps to an ID that was already supplied.")
            check_deletable(topic.name)
            _check_unprotected(image, topic.name, context)
            context.quota.take(len(topic.partitions))
        except KafkaError as error:
            responses.append(_refusal(image, state, rights, error))
        else:
            found[topic.id] = topic
    records: list[Message] = [
        record for deleted in purged.values() for record in removal_records(image, deleted)
    ]
    records += keeping_records(image, found.values(), purged, context)
    records += [RemoveTopicRecord(topic_id=topic_id) for topic_id in found]
    responses += [
        DeletableTopicResult(name=deleted.resource_name, topic_id=deleted.id)
        for deleted in purged.values()
    ]
    responses += [
        DeletableTopicResult(name=_shown_name(topic, rights), topic_id=topic.id)
        for topic in found.values()
    ]
    return OperationOutcome(records, DeleteTopicsResponse(responses=responses))


def _key(state: DeleteTopicState) -> tuple[str | None, Uuid]:
    return state.name, state.topic_id


def _once(states: list[DeleteTopicState]) -> Iterator[DeleteTopicState]:
    """Each topic once, ids before names: if a request has both the id and the name of a topic, the
    error is returned for the name."""
    distinct = {_key(state): state for state in states}
    yield from sorted(distinct.values(), key=lambda state: state.name is not None)


def _find(
    image: MetadataImage, state: DeleteTopicState, rights: Rights, *, times: int
) -> TopicImage:
    if state.name is None:
        if state.topic_id == ZERO_UUID:
            raise _invalid("Neither topic name nor id were specified.")
        if times > 1:
            raise _invalid("Duplicate topic id.")
        topic = image.topics.by_id.get(state.topic_id)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
        return topic
    if state.topic_id != ZERO_UUID:
        raise _invalid("You may not specify both topic name and topic id.")
    if times > 1:
        raise _invalid("Duplicate topic name.")
    if not _may(rights, AclOperation.DESCRIBE, state.name):
        raise _unauthorized()
    topic = image.topics.by_name.get(state.name)
    if topic is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
        )
    return topic


def _find_deleted(image: MetadataImage, name: str, rights: Rights, *, times: int) -> DeletedTopic:
    if times > 1:
        raise _invalid("Duplicate topic name.")
    parsed = parse_deleted_name(name)
    topic_name, topic_id = parsed or (name.partition(SEPARATOR)[0], ZERO_UUID)
    if not (
        _may(rights, AclOperation.DESCRIBE, topic_name)
        and _may(rights, AclOperation.DELETE, topic_name)
    ):
        raise _unauthorized()
    deleted = image.deleted_topics.by_id.get(topic_id)
    if deleted is None or deleted.name != topic_name:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no deleted topic '{name}'."
        )
    return deleted


def _check_unprotected(image: MetadataImage, name: str, context: Context) -> None:
    if context.node.topic_config(image.topic_configs(name)).is_protected:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"Topic '{name}' is protected from deletion: set its config ottla.delete.protection to "
            "false first.",
        )


def _may(rights: Rights, operation: AclOperation, name: str) -> bool:
    return rights.allows_quietly(
        AclOperation.DELETE, ResourceType.CLUSTER, CLUSTER_NAME
    ) or rights.allows(operation, ResourceType.TOPIC, name)


def _shown_name(topic: TopicImage, rights: Rights) -> str | None:
    """Clients learn the name of a topic id only if they may describe the topic."""
    return topic.name if _may(rights, AclOperation.DESCRIBE, topic.name) else None


def _unauthorized() -> KafkaError:
    return KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)


def _refusal(
    image: MetadataImage, state: DeleteTopicState, rights: Rights, error: KafkaError
) -> DeletableTopicResult:
    name = state.name
    topic = image.topics.by_id.get(state.topic_id) if name is None else None
    if topic is not None and error.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        name = _shown_name(topic, rights)
    return DeletableTopicResult(
        name=name,
        topic_id=state.topic_id,
        error_code=error.code,
        error_message=error.message,
    )

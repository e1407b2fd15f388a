"""Restores a deleted topic: CreateTopics with the config `ottla.undelete`, the id of that topic.

The topic has the name of the request, and the id, partitions, replicas and configs that it had.
Leader epochs and partition epochs continue. UNKNOWN_TOPIC_ID if there is no such deleted topic, or
if the client may not describe it; TOPIC_AUTHORIZATION_FAILED if it may not delete it, or not read
it and the name is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs import ConfigResource, ConfigResourceType
from ottla.controller.operation import Context
from ottla.controller.operations.config_records import config_records
from ottla.controller.operations.deleted_topics import removal_records
from ottla.controller.operations.leadership import PartitionChanges
from ottla.controller.operations.owner_limits import OwnedTopics
from ottla.metadata import DeletedTopic, MetadataImage, TopicImage
from ottla.metadata.deleted_topic import own_configs
from ottla.metadata.topic_owner import topic_record
from ottla.model import ErrorCode, KafkaError, uuid_from_text, uuid_to_text
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.wire.messages.create_topics import CreatableTopic, CreatableTopicResult
from ottla.wire.schema import Message

# In a CreateTopics request; it is not stored.
UNDELETE: Final = "ottla.undelete"
_DEFAULT: Final = -1


def restored_before(
    image: MetadataImage,
    requested: CreatableTopic,
    configs: Mapping[str, str],
    context: Context,
) -> CreatableTopicResult | None:
    """The result if a request has restored this topic under this name already: a client repeats a
    request whose response is lost. None otherwise."""
    topic = image.topics.by_name.get(requested.name)
    if topic is None or uuid_to_text(topic.id) != configs[UNDELETE]:
        return None
    _check_rights(topic.name, configs[UNDELETE], topic.name, context.rights)
    return _result(topic, image.topic_configs(topic.name), context)


def undelete_topic(
    image: MetadataImage,
    requested: CreatableTopic,
    configs: Mapping[str, str],
    context: Context,
    owned: OwnedTopics,
    records: list[Message],
) -> CreatableTopicResult:
    """Adds the records to `records`. The caller has checked the new name."""
    _check_request(requested, configs)
    deleted = _find(image, configs[UNDELETE])
    _check_rights(deleted.name, configs[UNDELETE], requested.name, context.rights)
    owned.add(requested.name, deleted.owner, topics=1, partitions=len(deleted.partitions))
    context.quota.take(len(deleted.partitions))
    stored = ConfigResource(ConfigResourceType.TOPIC, deleted.resource_name)
    restored_configs = own_configs(image.configs_of(stored))
    resource = ConfigResource(ConfigResourceType.TOPIC, requested.name)
    records.append(topic_record(requested.name, deleted.id, deleted.owner))
    records += config_records(image, resource, restored_configs)
    changes = PartitionChanges(image, context)
    topic = TopicImage(deleted.id, deleted.resource_name, deleted.partitions)
    for partition_id, partition in deleted.partitions.items():
        change = changes.record(topic, partition_id)
        if change is not None:
            partition = partition.changed_by(change, image.topics.shared_tuples)
        restored = partition._replace(
            leader_epoch=partition.leader_epoch + 1, partition_epoch=partition.partition_epoch + 1
        )
        records.append(restored.to_record(deleted.id, partition_id))
    records += removal_records(image, deleted)
    return _result(
        TopicImage(deleted.id, requested.name, deleted.partitions), restored_configs, context
    )


def _result(
    topic: TopicImage, configs: Mapping[str, str], context: Context
) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.id,
        error_message=None,
        num_partitions=len(topic.partitions),
        replication_factor=len(topic.partitions[0].replicas),
        configs=context.descriptions.of_topic(configs),
    )


def _check_request(requested: CreatableTopic, configs: Mapping[str, str]) -> None:
    is_plain = (
        requested.num_partitions == _DEFAULT
        and requested.replication_factor == _DEFAULT
        and not requested.assignments
        and len(configs) == 1
    )
    if not is_plain:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "A deleted topic is restored with its own partitions, replicas and configs: leave them "
            f"out, and set only {UNDELETE}.",
        )


def _find(image: MetadataImage, text: str) -> DeletedTopic:
    try:
        deleted = image.deleted_topics.by_id.get(uuid_from_text(text))
    except ValueError:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"{UNDELETE} must be a topic id, but it is: {text}"
        ) from None
    if deleted is None:
        raise _unknown(text)
    if set(deleted.partitions) != set(range(len(deleted.partitions))) or not deleted.partitions:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"The deleted topic {text} was stored by another version, and cannot be read.",
        )
    return deleted


def _check_rights(name: str, topic_id: str, new_name: str, rights: Rights) -> None:
    on_cluster = rights.allows_quietly(AclOperation.DELETE, ResourceType.CLUSTER, CLUSTER_NAME)
    may_describe = rights.allows(AclOperation.DESCRIBE, ResourceType.TOPIC, name)
    if not (on_cluster or may_describe):
        raise _unknown(topic_id)
    if not on_cluster:
        rights.require(AclOperation.DELETE, ResourceType.TOPIC, name)
    if new_name != name:
        # Rights under the new name may be others.
        rights.require(AclOperation.READ, ResourceType.TOPIC, name)


def _unknown(text: str) -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, f"There is no deleted topic with the id {text}.")

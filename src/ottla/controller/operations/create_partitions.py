"""CreatePartitions, versions 0 to 3.

Per topic: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, INVALID_PARTITIONS,
INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR, INVALID_REQUEST for a duplicate topic,
INVALID_TOPIC_EXCEPTION for a topic with coordinator state, THROTTLING_QUOTA_EXCEEDED;
POLICY_VIOLATION for a tenant or a
user that has too many, and for a topic with which the request would exceed the partition limit per
request.
"""

from __future__ import annotations

from collections import Counter

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.coordinator_topics import check_growable
from ottla.controller.operations.new_partitions import NewPartitions, check_partition_count
from ottla.controller.operations.owner_limits import OwnedTopics
from ottla.metadata import MetadataImage, TopicImage
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ottla.wire.schema import Message


def create_partitions(
    image: MetadataImage, request: CreatePartitionsRequest, context: Context
) -> OperationOutcome[CreatePartitionsResponse]:
    requested = Counter(topic.name for topic in request.topics)
    new = NewPartitions(image, context)
    owned = OwnedTopics(image)
    records: list[Message] = []
    results = []
    for topic in {each.name: each for each in request.topics}.values():
        try:
            if requested[topic.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            context.rights.require(AclOperation.ALTER, ResourceType.TOPIC, topic.name)
            grown = _grow(image, topic, new)
            check_partition_count(len(records) + len(grown))
            owner = image.topics.by_name[topic.name].owner
            owned.add(topic.name, owner, topics=0, partitions=len(grown))
            context.quota.take(len(grown))
            records += grown
            results.append(CreatePartitionsTopicResult(name=topic.name))
        except KafkaError as error:
            results.append(
                CreatePartitionsTopicResult(
                    name=topic.name, error_code=error.code, error_message=error.message
                )
            )
    return OperationOutcome(
        [] if request.validate_only else records, CreatePartitionsResponse(results=results)
    )


def _grow(
    image: MetadataImage, requested: CreatePartitionsTopic, new: NewPartitions
) -> list[Message]:
    topic = image.topics.by_name.get(requested.name)
    if topic is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
        )
    check_growable(topic.name)
    additional = _additional(topic, requested)
    check_partition_count(additional)
    count = len(topic.partitions)
    replication_factor = len(next(iter(topic.partitions.values())).replicas)
    if requested.assignments is None:
        added = new.place(count=additional, replication_factor=replication_factor)
    else:
        added = [
            new.assign(partition_id, assignment.broker_ids, replication_factor=replication_factor)
            for partition_id, assignment in enumerate(requested.assignments, start=count)
        ]
    return [
        partition.to_record(topic.id, partition_id)
        for partition_id, partition in enumerate(added, start=count)
    ]


def _additional(topic: TopicImage, requested: CreatePartitionsTopic) -> int:
    count = len(topic.partitions)
    if requested.count == count:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {count} partition(s).")
    if requested.count < count:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {count} partition(s); "
            f"{requested.count} would not be an increase.",
        )
    additional = requested.count - count
    if requested.assignments is not None and len(requested.assignments) != additional:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(requested.assignments)} assignment(s) were specified.",
        )
    return additional

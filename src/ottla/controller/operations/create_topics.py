"""CreateTopics, versions 2 to 7.

Per topic: TOPIC_AUTHORIZATION_FAILED, INVALID_TOPIC_EXCEPTION, TOPIC_ALREADY_EXISTS,
INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_REPLICA_ASSIGNMENT, INVALID_CONFIG,
INVALID_REQUEST, THROTTLING_QUOTA_EXCEEDED, POLICY_VIOLATION for a tenant or a user that
has too many; for all topics POLICY_VIOLATION, if the request exceeds the partition limit per
request. A client that may create a topic but not describe its configs gets neither the configs nor
the numbers of partitions and replicas, and TOPIC_AUTHORIZATION_FAILED as the configs' error.

With the config `ottla.undelete`, a topic is not new but a deleted one that is restored
(undelete_topic.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ottla.configs import (
    ConfigResource,
    ConfigResourceType,
    replace_configs,
    validate_topic_configs,
)
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.config_records import config_records
from ottla.controller.operations.coordinator_topics import check_configs
from ottla.controller.operations.new_partitions import NewPartitions, check_partition_count
from ottla.controller.operations.owner_limits import OwnedTopics, owner_of_new
from ottla.controller.operations.topic_names import check_new_name
from ottla.controller.operations.undelete_topic import (
    UNDELETE,
    restored_before,
    undelete_topic,
)
from ottla.metadata import MetadataImage, PartitionRegistration
from ottla.metadata.topic_owner import topic_record
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import CLUSTER_METADATA
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Rights
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.schema import Message

_DEFAULT = -1
_UNKNOWN = -1


def create_topics(
    image: MetadataImage, request: CreateTopicsRequest, context: Context
) -> OperationOutcome[CreateTopicsResponse]:
    requested = Counter(topic.name for topic in request.topics)
    refused = _refused(requested, context.rights)
    refusals = [_refusal(name, error) for name, error in refused.items()]
    permitted = [topic for topic in request.topics if topic.name not in refused]
    records: list[Message] = []
    results = []
    try:
        check_partition_count(sum(_partition_count(topic, context) for topic in permitted))
    except KafkaError as error:
        results = [_refusal(topic.name, error) for topic in permitted]
        return OperationOutcome([], CreateTopicsResponse(topics=results + refusals))
    new = NewPartitions(image, context)
    owned = OwnedTopics(image)
    for topic in permitted:
        try:
            result = _create_topic(image, topic, context, new, owned, records)
        except KafkaError as error:
            result = _refusal(topic.name, error)
        else:
            _hide_configs(result, context.rights)
        results.append(result)
    return OperationOutcome(
        [] if request.validate_only else records, CreateTopicsResponse(topics=results + refusals)
    )


def _refused(requested: Mapping[str, int], rights: Rights) -> dict[str, KafkaError]:
    """The errors of topics that are named twice, or that the client may not create."""
    refused = {
        name: KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, count in requested.items()
        if count > 1
    }
    if rights.allows_quietly(AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME):
        return refused
    for name in requested:
        # No client can create the metadata topic, which is another error.
        if name not in refused and name != CLUSTER_METADATA:
            try:
                rights.require(AclOperation.CREATE, ResourceType.TOPIC, name)
            except KafkaError as error:
                refused[name] = error
    return refused


def _hide_configs(result: CreatableTopicResult, rights: Rights) -> None:
    if not rights.allows(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, result.name):
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        result.num_partitions = result.replication_factor = _UNKNOWN
        result.configs = None


def _create_topic(
    image: MetadataImage,
    topic: CreatableTopic,
    context: Context,
    new: NewPartitions,
    owned: OwnedTopics,
    records: list[Message],
) -> CreatableTopicResult:
    configs = _configs(topic)
    if UNDELETE in configs:
        restored = restored_before(image, topic, configs, context)
        if restored is not None:
            return restored
    check_new_name(topic.name, image.topics)
    if UNDELETE in configs:
        return undelete_topic(image, topic, configs, context, owned, records)
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.name)
    changes = replace_configs(resource, {}, list(configs.items()))
    validate_topic_configs(configs, existing={}, node=context.node)
    check_configs(topic.name, configs)
    partitions = _partitions(topic, context, new)
    owner = owner_of_new(context.rights)
    owned.add(topic.name, owner, topics=1, partitions=len(partitions))
    context.quota.take(len(partitions))
    topic_id = context.dice.uuid()
    records.append(topic_record(topic.name, topic_id, owner))
    records += config_records(image, resource, changes)
    records += [
        partition.to_record(topic_id, partition_id)
        for partition_id, partition in enumerate(partitions)
    ]
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=context.descriptions.of_topic(configs),
    )


def _configs(topic: CreatableTopic) -> dict[str, str]:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Null value not supported for topic configs: {','.join(nulls)}",
        )
    return {config.name: config.value for config in topic.configs if config.value is not None}


def _partition_count(topic: CreatableTopic, context: Context) -> int:
    if topic.assignments:
        return len(topic.assignments)
    default = context.node.num_partitions
    return default if topic.num_partitions == _DEFAULT else max(topic.num_partitions, 0)


def _partitions(
    topic: CreatableTopic, context: Context, new: NewPartitions
) -> list[PartitionRegistration]:
    if topic.assignments:
        return _assigned_partitions(topic, new)
    replication_factor = topic.replication_factor
    if replication_factor < _DEFAULT or replication_factor == 0:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions < _DEFAULT or topic.num_partitions == 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    if replication_factor == _DEFAULT:
        replication_factor = context.node.default_replication_factor
    count = _partition_count(topic, context)
    return new.place(count=count, replication_factor=replication_factor)


def _assigned_partitions(topic: CreatableTopic, new: NewPartitions) -> list[PartitionRegistration]:
    for value, name in (
        (topic.replication_factor, "replication factor"),
        (topic.num_partitions, "numPartitions"),
    ):
        if value != _DEFAULT:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"A manual partition assignment was specified, but {name} was not set to -1.",
            )
    assigned: dict[int, PartitionRegistration] = {}
    replication_factor = None
    for assignment in topic.assignments:
        partition_id = assignment.partition_index
        if partition_id in assigned:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {partition_id}",
            )
        assigned[partition_id] = new.assign(
            partition_id, assignment.broker_ids, replication_factor=replication_factor
        )
        replication_factor = len(assignment.broker_ids)
    if assigned.keys() != set(range(len(assigned))):
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [assigned[partition_id] for partition_id in range(len(assigned))]


def _refusal(name: str, error: KafkaError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)

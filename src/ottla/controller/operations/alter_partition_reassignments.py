"""AlterPartitionReassignments, versions 0 and 1: starts and cancels reassignments (KIP-455).

    replicas 1 2 3 ──reassign to 3 4──▶ 3 4 1 2, adding 4, removing 1 2 ──4 in sync──▶ 3 4
                                           └──cancelled──▶ 3 1 2

A reassignment that only removes or reorders replicas completes at once. Per partition:
UNKNOWN_TOPIC_OR_PARTITION, INVALID_REPLICA_ASSIGNMENT, NO_REASSIGNMENT_IN_PROGRESS, and
INVALID_REPLICATION_FACTOR if the request does not allow changing it (KIP-860). For the request and
all its partitions CLUSTER_AUTHORIZATION_FAILED.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.leadership import PartitionChanges
from ottla.controller.operations.new_partitions import check_assignment, default_directory
from ottla.metadata import MetadataImage, PartitionRegistration, TopicImage
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ottla.wire.schema import Message


def alter_partition_reassignments(
    image: MetadataImage, request: AlterPartitionReassignmentsRequest, context: Context
) -> OperationOutcome[AlterPartitionReassignmentsResponse]:
    try:
        context.rights.require(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    except KafkaError as error:
        return OperationOutcome([], _refuse(request, error))
    changes = PartitionChanges(image, context)
    can_change_factor = request.allow_replication_factor_change
    records: list[Message] = []
    responses = []
    for requested in request.topics:
        results = []
        for partition in requested.partitions:
            index = partition.partition_index
            result = ReassignablePartitionResponse(partition_index=index, error_message=None)
            try:
                topic, target = _target(
                    image, requested.name, partition, context, can_change_factor=can_change_factor
                )
                record = changes.retarget(topic, index, target)
                if record is not None:
                    records.append(record)
            except KafkaError as error:
                result.error_code, result.error_message = error.code, error.message
            results.append(result)
        responses.append(ReassignableTopicResponse(name=requested.name, partitions=results))
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=can_change_factor, error_message=None, responses=responses
    )
    return OperationOutcome(records, response)


def _refuse(
    request: AlterPartitionReassignmentsRequest, error: KafkaError
) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=error.code,
        error_message=error.message,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=partition.partition_index,
                        error_code=error.code,
                        error_message=error.message,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _target(
    image: MetadataImage,
    name: str,
    requested: ReassignablePartition,
    context: Context,
    *,
    can_change_factor: bool,
) -> tuple[TopicImage, PartitionRegistration]:
    topic = image.topics.by_name.get(name)
    if topic is None:
        raise _unknown(f"Unable to find a topic named {name}.")
    partition = topic.partitions.get(requested.partition_index)
    if partition is None:
        raise _unknown(f"Unable to find partition {name}:{requested.partition_index}.")
    if requested.replicas is not None:
        check_assignment(image, requested.replicas)
        if not can_change_factor:
            _check_factor(partition, requested.replicas)
        return topic, _moved(image, partition, requested.replicas)
    back = _taken_back(partition)
    configs = context.node.topic_config(image.topic_configs(name))
    if not back.isr and not configs.unclean_leader_election_enable:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unable to revert partition assignment for {name}:{requested.partition_index} because "
            "it would require an unclean leader election.",
        )
    return topic, back


def _moved(
    image: MetadataImage, partition: PartitionRegistration, target: list[int]
) -> PartitionRegistration:
    """The partition with the reassignment started. Current replicas stay until the new ones are in
    sync. Replicas added by an earlier unfinished reassignment stay marked as adding, so that they
    can still be removed by cancelling."""
    leaving = sorted(set(partition.replicas).difference(target))
    replicas = (*target, *leaving)
    original = _original(partition)
    directories = dict(zip(partition.replicas, partition.directories, strict=True))
    return partition._replace(
        replicas=replicas,
        directories=tuple(
            directories.get(each) or default_directory(image.brokers[each]) for each in replicas
        ),
        removing_replicas=tuple(leaving),
        adding_replicas=tuple(sorted(set(replicas).difference(original))),
    )


def _taken_back(partition: PartitionRegistration) -> PartitionRegistration:
    """The partition with the reassignment cancelled. The ISR is empty if only added replicas were
    in sync."""
    if not partition.removing_replicas and not partition.adding_replicas:
        raise KafkaError(
            ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress."
        )
    original = _original(partition)
    return partition._replace(
        replicas=original,
        isr=tuple(each for each in partition.isr if each in original),
        directories=tuple(partition.directory_of(each) for each in original),
        removing_replicas=(),
        adding_replicas=(),
    )


def _original(partition: PartitionRegistration) -> tuple[int, ...]:
    return tuple(each for each in partition.replicas if each not in partition.adding_replicas)


def _check_factor(partition: PartitionRegistration, target: list[int]) -> None:
    """During a reassignment, the replication factor of its target counts."""
    factor = len(set(partition.replicas).difference(partition.removing_replicas))
    if len(target) != factor:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {factor} to {len(target)}",
        )


def _unknown(message: str) -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)

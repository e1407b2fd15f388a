"""ElectLeaders, versions 0 to 2: elects preferred leaders, or unclean leaders for leaderless
partitions.

Per partition: UNKNOWN_TOPIC_OR_PARTITION; ELECTION_NOT_NEEDED if it already has such a leader (such
partitions are omitted if the request is for all partitions); PREFERRED_LEADER_NOT_AVAILABLE;
ELIGIBLE_LEADERS_NOT_AVAILABLE. For the whole request INVALID_REQUEST if the election type is
unknown, and CLUSTER_AUTHORIZATION_FAILED, which the named partitions have too.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.leadership import PartitionChanges
from ottla.controller.operations.partition_change import ElectionRule
from ottla.metadata import NO_LEADER, MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ottla.wire.schema import Message


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


def elect_leaders(
    image: MetadataImage, request: ElectLeadersRequest, context: Context
) -> OperationOutcome[ElectLeadersResponse]:
    try:
        context.rights.require(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    except KafkaError as error:
        return OperationOutcome([], _refuse(request, error))
    try:
        kind = ElectionType(request.election_type)
    except ValueError:
        return OperationOutcome([], ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST))
    changes = PartitionChanges(image, context, election=ElectionRule[kind.name])
    is_for_all = request.topic_partitions is None
    records: list[Message] = []
    results = []
    for name, partition_ids in _requested(image, request):
        partition_results = []
        for partition_id in partition_ids:
            result = PartitionResult(partition_id=partition_id, error_message=None)
            try:
                records.append(_elect(image, name, partition_id, kind, changes))
            except KafkaError as error:
                if is_for_all and error.code == ErrorCode.ELECTION_NOT_NEEDED:
                    continue
                result.error_code, result.error_message = error.code, error.message
            partition_results.append(result)
        results.append(ReplicaElectionResult(topic=name, partition_result=partition_results))
    return OperationOutcome(records, ElectLeadersResponse(replica_election_results=results))


def _refuse(request: ElectLeadersRequest, error: KafkaError) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=error.code,
        replica_election_results=[
            ReplicaElectionResult(
                topic=requested.topic,
                partition_result=[
                    PartitionResult(
                        partition_id=index, error_code=error.code, error_message=error.message
                    )
                    for index in requested.partitions
                ],
            )
            for requested in request.topic_partitions or ()
        ],
    )


def _requested(
    image: MetadataImage, request: ElectLeadersRequest
) -> Iterable[tuple[str, Iterable[int]]]:
    if request.topic_partitions is None:
        return [(topic.name, topic.partitions) for topic in image.topics]
    return [(requested.topic, requested.partitions) for requested in request.topic_partitions]


def _elect(
    image: MetadataImage,
    name: str,
    partition_id: int,
    kind: ElectionType,
    changes: PartitionChanges,
) -> Message:
    topic = image.topics.by_name.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    partition = topic.partitions.get(partition_id)
    if partition is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{partition_id}"
        )
    expected_leader = (
        partition.preferred_leader if kind is ElectionType.PREFERRED else partition.leader
    )
    if partition.leader == expected_leader != NO_LEADER:
        raise KafkaError(
            ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
        )
    record = changes.record(topic, partition_id)
    if record is not None:
        return record
    if kind is ElectionType.PREFERRED:
        raise KafkaError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available."
        )
    raise KafkaError(
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        "Eligible topic partition leaders are not available.",
    )

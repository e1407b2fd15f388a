"""Requests that change topics, for many topics at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ottla.channels.node_link import REQUEST_TIMEOUT_MS
from ottla.cli.apply.changes import AddPartitions, CreateTopic, DeleteTopic, MoveReplicas
from ottla.cli.apply.secrets_of_files import Secrets, value_of
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.exit_codes import CommandError
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

# The errors of the changes that were refused, by the names of their topics.
Refusals = dict[str, CommandError]


async def create_topics(
    admin: ClusterAdmin,
    changes: Sequence[CreateTopic],
    secrets: Secrets,
    *,
    validate_only: bool = False,
) -> Refusals:
    request = CreateTopicsRequest(
        topics=[_creatable(change, secrets) for change in changes],
        timeout_ms=REQUEST_TIMEOUT_MS,
        validate_only=validate_only,
    )
    response = await admin.send_request(request)
    return _refusals("create", response.topics)


async def add_partitions(
    admin: ClusterAdmin, changes: Sequence[AddPartitions], *, validate_only: bool = False
) -> Refusals:
    topics = [
        CreatePartitionsTopic(
            name=change.topic,
            count=change.count,
            assignments=None
            if change.assignment is None
            else [CreatePartitionsAssignment(broker_ids=list(ids)) for ids in change.assignment],
        )
        for change in changes
    ]
    response = await admin.send_request(
        CreatePartitionsRequest(
            topics=topics, timeout_ms=REQUEST_TIMEOUT_MS, validate_only=validate_only
        )
    )
    return _refusals("add partitions to", response.results)


async def move_replicas(admin: ClusterAdmin, changes: Sequence[MoveReplicas]) -> Refusals:
    """Starts the moves."""
    topics = [
        ReassignableTopic(
            name=change.topic,
            partitions=[
                ReassignablePartition(partition_index=partition, replicas=list(replicas))
                for partition, (_, replicas) in sorted(change.moves.items())
            ],
        )
        for change in changes
    ]
    response = await admin.send_request(
        AlterPartitionReassignmentsRequest(timeout_ms=REQUEST_TIMEOUT_MS, topics=topics)
    )
    if response.error_code:
        raise refusal("move replicas", response.error_code, response.error_message)
    return {
        topic.name: refusal(
            f"move the replicas of {topic.name}-{partition.partition_index}",
            partition.error_code,
            partition.error_message,
        )
        for topic in response.responses
        for partition in topic.partitions
        if partition.error_code
    }


async def delete_topics(admin: ClusterAdmin, changes: Sequence[DeleteTopic]) -> Refusals:
    names = [change.name for change in changes]
    response = await admin.send_request(
        DeleteTopicsRequest(
            topics=[DeleteTopicState(name=name) for name in names],
            topic_names=names,
            timeout_ms=REQUEST_TIMEOUT_MS,
        )
    )
    return _refusals("delete", response.responses)


def _creatable(change: CreateTopic, secrets: Secrets) -> CreatableTopic:
    assignments: Mapping[int, Sequence[int]] = dict(enumerate(change.assignment or ()))
    return CreatableTopic(
        name=change.name,
        num_partitions=-1 if assignments else change.partitions or -1,
        replication_factor=-1 if assignments else change.replication_factor or -1,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index, replicas in assignments.items()
        ],
        configs=[
            CreatableTopicConfig(name=config.name, value=value_of(config, secrets))
            for config in change.configs
        ],
    )


def _refusals(doing: str, results: Sequence[Any]) -> Refusals:
    return {
        result.name: refusal(
            f"{doing} topic {result.name}", result.error_code, result.error_message
        )
        for result in results
        if result.error_code
    }

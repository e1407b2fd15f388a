"""Changes of topics, for many topics at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ottla.cli.apply.changes import AddPartitions, CreateTopic, DeleteTopic, MoveReplicas
from ottla.cli.apply.secrets_of_files import Secrets, value_of
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.protected_topics import protected_topics
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.client.administration.results import Results
from ottla.client.administration.topics import NewTopic, PartitionCount
from ottla.model import TopicPartition

# The errors of the changes that were refused, by the names of their topics.
Refusals = dict[str, CommandError]


async def create_topics(
    admin: Admin,
    changes: Sequence[CreateTopic],
    secrets: Secrets,
    *,
    validate_only: bool = False,
) -> Refusals:
    topics = [_new_topic(change, secrets) for change in changes]
    with doing("create topics"):
        return _refusals("create", await admin.create_topics(topics, validate_only=validate_only))


async def add_partitions(
    admin: Admin, changes: Sequence[AddPartitions], *, validate_only: bool = False
) -> Refusals:
    counts = {change.topic: PartitionCount(change.count, change.assignment) for change in changes}
    with doing("add partitions"):
        results = await admin.create_partitions(counts, validate_only=validate_only)
    return _refusals("add partitions to", results)


async def move_replicas(admin: Admin, changes: Sequence[MoveReplicas]) -> Refusals:
    """Starts the moves."""
    moves = {
        TopicPartition(change.topic, partition): replicas
        for change in changes
        for partition, (_, replicas) in sorted(change.moves.items())
    }
    with doing("move replicas"):
        results = await admin.alter_partition_reassignments(moves)
    return {
        name.topic: refused(f"move the replicas of {name}", error)
        for name, error in results.failed.items()
    }


async def delete_topics(
    admin: Admin, changes: Sequence[DeleteTopic], *, validate_only: bool = False
) -> Refusals:
    if validate_only:
        return await protected_topics(admin, (change.name for change in changes))
    with doing("delete topics"):
        return _refusals("delete", await admin.delete_topics(change.name for change in changes))


def _new_topic(change: CreateTopic, secrets: Secrets) -> NewTopic:
    return NewTopic(
        change.name,
        change.partitions,
        change.replication_factor,
        {config.name: value_of(config, secrets) for config in change.configs},
        dict(enumerate(change.assignment)) if change.assignment else None,
    )


def _refusals(what: str, results: Results[Any, Any]) -> Refusals:
    return {
        topic: refused(f"{what} topic {topic}", error) for topic, error in results.failed.items()
    }

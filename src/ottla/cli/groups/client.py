"""Groups as the commands see them: through confluent-kafka."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition

# The package has types, but its modules do not say what they export.
from confluent_kafka.admin import ConsumerGroupDescription  # type: ignore[attr-defined]

from ottla.cli.connection.cluster_client import REQUEST_TIMEOUT_S, ConnectedCluster, result_of
from ottla.cli.exit_codes import CommandError


class GroupListing(NamedTuple):
    id: str
    type: str
    state: str


class MemberView(NamedTuple):
    id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: tuple[tuple[str, int], ...]


class GroupView(NamedTuple):
    id: str
    type: str
    state: str
    assignor: str
    coordinator: int | None
    members: tuple[MemberView, ...]


def list_groups(cluster: ConnectedCluster) -> list[GroupListing]:
    answer = cluster.admin.list_consumer_groups(request_timeout=REQUEST_TIMEOUT_S)
    found = result_of(answer, "list the groups")
    for error in found.errors:
        raise CommandError(f"A broker did not list its groups: {error}.")
    return sorted(
        GroupListing(each.group_id, _word(each.type), _word(each.state)) for each in found.valid
    )


def describe_group(cluster: ConnectedCluster, group_id: str) -> GroupView:
    answers = cluster.admin.describe_consumer_groups([group_id], request_timeout=REQUEST_TIMEOUT_S)
    try:
        found: ConsumerGroupDescription = answers[group_id].result()
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
            raise unknown_group(cluster, group_id) from None
        raise CommandError(f"Cannot describe group {group_id}: {error.args[0].str()}.") from None
    if _word(found.state) == "dead":
        raise unknown_group(cluster, group_id)
    coordinator = found.coordinator
    return GroupView(
        group_id,
        _word(found.type),
        _word(found.state),
        found.partition_assignor or "",
        None if coordinator is None else coordinator.id,
        tuple(
            MemberView(
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.host,
                tuple(
                    sorted(
                        (str(each.topic), each.partition)
                        for each in member.assignment.topic_partitions
                    )
                ),
            )
            for member in found.members
        ),
    )


def unknown_group(cluster: ConnectedCluster, group_id: str) -> CommandError:
    known = [group.id for group in list_groups(cluster)]
    hint = f"Existing groups: {', '.join(known[:20])}." if known else "There are no groups."
    return CommandError(f"There is no group {group_id}.", hint)


def committed_offsets(cluster: ConnectedCluster, group_id: str) -> dict[tuple[str, int], int]:
    """By partition, in order; those without an offset are left out."""
    requested = ConsumerGroupTopicPartitions(group_id)
    answers = cluster.admin.list_consumer_group_offsets(
        [requested], request_timeout=REQUEST_TIMEOUT_S
    )
    found = result_of(answers[group_id], f"list the offsets of group {group_id}")
    return {
        (each.topic, each.partition): each.offset
        for each in sorted(found.topic_partitions, key=lambda each: (each.topic, each.partition))
        if each.offset >= 0
    }


def alter_offsets(
    cluster: ConnectedCluster, group_id: str, offsets: Sequence[tuple[str, int, int]]
) -> None:
    moved = ConsumerGroupTopicPartitions(
        group_id, [TopicPartition(topic, number, offset) for topic, number, offset in offsets]
    )
    answers = cluster.admin.alter_consumer_group_offsets([moved], request_timeout=REQUEST_TIMEOUT_S)
    result = result_of(answers[group_id], f"move the offsets of group {group_id}")
    for each in result.topic_partitions:
        if each.error is not None:
            raise CommandError(
                f"The offset of {each.topic}-{each.partition} was not moved: {each.error.str()}."
            )


def delete_group(cluster: ConnectedCluster, group_id: str) -> None:
    answers = cluster.admin.delete_consumer_groups([group_id], request_timeout=REQUEST_TIMEOUT_S)
    result_of(answers[group_id], f"delete group {group_id}")


def _word(value: object) -> str:
    """An enumeration's member, as people write it."""
    return str(getattr(value, "name", value)).lower().replace("_", "-")

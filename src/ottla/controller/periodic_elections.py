"""Elections that the controller starts periodically.

Leadership returns to preferred replicas once they are in sync again, so that a restarted broker
gets its share of the load (`auto.leader.rebalance.enable`, every
`leader.imbalance.check.interval.seconds`). Leaderless partitions get a leader that may lack
records, if their topic allows it (`unclean.leader.election.enable`, checked every
`unclean.leader.election.interval.ms`).

Both functions return an ordinary ElectLeaders request, limited to as many partitions as do not
block other operations, or None if there is nothing to do. Repeating the call after each election
reaches all partitions, since every election that is proposed here succeeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from ottla.configs import NodeConfig
from ottla.controller.operations.elect_leaders import ElectionType
from ottla.controller.operations.leadership import can_lead
from ottla.metadata import NO_LEADER, MetadataImage, PartitionRegistration, TopicImage
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions

# The same limit as in Kafka.
ELECTIONS_MAX: Final = 1000


def preferred_elections(
    image: MetadataImage, *, elections_max: int = ELECTIONS_MAX
) -> ElectLeadersRequest | None:
    """Partitions that are not led by their preferred replica although it could lead."""
    imbalanced = (
        (topic, partition_id)
        for topic in image.topics
        for partition_id, partition in topic.partitions.items()
        if partition.leader != partition.replicas[0] and _can_prefer(image, partition)
    )
    return _request(ElectionType.PREFERRED, islice(imbalanced, elections_max))


def unclean_elections(
    image: MetadataImage, node: NodeConfig, *, elections_max: int = ELECTIONS_MAX
) -> ElectLeadersRequest | None:
    """Leaderless partitions that allow unclean leader election and have a live replica."""
    leaderless = (
        (topic, partition_id)
        for topic in image.topics
        for partition_id, partition in topic.partitions.items()
        if partition.leader == NO_LEADER
        and node.topic_config(image.topic_configs(topic.name)).unclean_leader_election_enable
        and any(can_lead(image, partition, replica) for replica in partition.replicas)
    )
    return _request(ElectionType.UNCLEAN, islice(leaderless, elections_max))


def _can_prefer(image: MetadataImage, partition: PartitionRegistration) -> bool:
    preferred = partition.preferred_leader
    electable = partition.isr or partition.eligible_leader_replicas
    return preferred in electable and can_lead(image, partition, preferred)


def _request(
    kind: ElectionType, partitions: Iterator[tuple[TopicImage, int]]
) -> ElectLeadersRequest | None:
    requested: dict[str, list[int]] = {}
    for topic, partition_id in partitions:
        requested.setdefault(topic.name, []).append(partition_id)
    if not requested:
        return None
    topics = [TopicPartitions(topic=name, partitions=ids) for name, ids in requested.items()]
    return ElectLeadersRequest(election_type=kind, topic_partitions=topics)

"""The elections that the controller asks for itself, from time to time.

Leadership goes back to the preferred replicas when they are in sync again, so that a broker that
was away gets its share of the work (`auto.leader.rebalance.enable`, every
`leader.imbalance.check.interval.seconds`). And partitions that nobody leads get a leader that may
lack records, once their topic allows it (`unclean.leader.election.enable`, looked at every
`unclean.leader.election.interval.ms`).

Both give the request of an ordinary election, of so many partitions that it does not hold up the
rest, and None when there is nothing to do. Whoever asks again after each gets through all of them:
an election that is proposed succeeds.
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

# As many as Kafka does at once.
ELECTIONS_MAX: Final = 1000


def preferred_elections(
    image: MetadataImage, *, elections_max: int = ELECTIONS_MAX
) -> ElectLeadersRequest | None:
    """Partitions that their preferred replica could lead and does not."""
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
    """Partitions without a leader that may have any, and of which a replica is there."""
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
    asked: dict[str, list[int]] = {}
    for topic, partition_id in partitions:
        asked.setdefault(topic.name, []).append(partition_id)
    if not asked:
        return None
    topics = [TopicPartitions(topic=name, partitions=ids) for name, ids in asked.items()]
    return ElectLeadersRequest(election_type=kind, topic_partitions=topics)

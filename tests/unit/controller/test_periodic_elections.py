"""Elections without a request."""

from ottla.controller.operations.elect_leaders import ElectionType, elect_leaders
from ottla.controller.periodic_elections import preferred_elections, unclean_elections
from ottla.metadata import NO_LEADER, MetadataImage
from ottla.wire.messages.elect_leaders import ElectLeadersRequest
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    node_config,
    topic,
    uuid,
)


def requested(request: ElectLeadersRequest | None) -> dict[str, list[int]]:
    if request is None:
        return {}
    assert request.topic_partitions is not None
    return {each.topic: each.partitions for each in request.topic_partitions}


def imbalanced() -> MetadataImage:
    return image_of(
        features(),
        *(broker(1), broker(2), broker(3, fenced=True)),
        broker(4, log_dirs=[uuid(604)]),
        topic("balanced", [1, 2]),
        topic("imbalanced", [1, 2], [1, 2], [1, 2], leader=2),
        topic("not-in-sync", [1, 2], isr=[2]),
        topic("fenced", [3, 2], leader=2),
        topic("directory-failed", [4, 2], leader=2),
        topic("eligible", [1, 3], isr=[], elr=[1, 3], leader=NO_LEADER),
    )


def test_leadership_goes_back_to_who_could_have_it() -> None:
    request = preferred_elections(imbalanced())
    assert request is not None
    assert request.election_type == ElectionType.PREFERRED
    assert requested(request) == {"imbalanced": [0, 1, 2], "eligible": [0]}


def test_elections_come_in_batches_until_all_are_done() -> None:
    image, batches = imbalanced(), 0
    while (request := preferred_elections(image, elections_max=2)) is not None:
        assert sum(len(partitions) for partitions in requested(request).values()) == 2
        records, response = elect_leaders(image, request, context())
        for result in response.replica_election_results:
            assert all(each.error_code == 0 for each in result.partition_result)
        image = applied(image, records)
        batches += 1
    assert batches == 2
    assert image.topics.by_name["imbalanced"].partitions[2].leader == 1


def leaderless() -> MetadataImage:
    return image_of(
        features(),
        *(broker(1), broker(2, fenced=True)),
        topic("kept", [1, 2], isr=[], elr=[2], leader=NO_LEADER),
        topic("switched", [1, 2], [2], [1, 2], isr=[], elr=[2], leader=NO_LEADER),
        topic("led", [1, 2], isr=[1]),
        *(
            ConfigRecord(
                resource_type=2,
                resource_name=name,
                name="unclean.leader.election.enable",
                value="true",
            )
            for name in ("switched", "led")
        ),
    )


def test_topics_that_allow_it_get_leaders_that_may_lack_records() -> None:
    image = leaderless()
    request = unclean_elections(image, node_config())
    assert request is not None
    assert request.election_type == ElectionType.UNCLEAN
    assert requested(request) == {"switched": [0, 2]}
    records, _ = elect_leaders(image, request, context())
    image = applied(image, records)
    partitions = image.topics.by_name["switched"].partitions
    assert [each.leader for each in partitions.values()] == [1, NO_LEADER, 1]
    assert unclean_elections(image, node_config()) is None


def test_switch_for_the_whole_cluster_counts_too() -> None:
    node = node_config(unclean_leader_election_enable="true")
    assert requested(unclean_elections(leaderless(), node, elections_max=1)) == {"kept": [0]}

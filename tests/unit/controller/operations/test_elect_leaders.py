"""Elections on request."""

import pytest

from ottla.controller.operation import OperationOutcome
from ottla.controller.operations.elect_leaders import ElectionType, elect_leaders
from ottla.metadata import NO_LEADER, MetadataImage
from ottla.metadata.partition import RECOVERING
from ottla.model import ErrorCode
from ottla.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    topic,
)


def cluster() -> MetadataImage:
    """Brokers 1 and 2 serve, 3 is fenced."""
    return image_of(
        features(),
        *(broker(1), broker(2), broker(3, fenced=True)),
        topic("preferred", [1, 2], [1, 2]),
        topic("other", [1, 2], [1, 2], leader=2),
        topic("gone", [3, 1], isr=[1], leader=1),
        topic("lost", [1, 3], isr=[], elr=[3], leader=NO_LEADER),
        topic("dead", [3], isr=[], elr=[3], leader=NO_LEADER),
    )


def elect(
    kind: int, requested: dict[str, list[int]] | None
) -> tuple[MetadataImage, dict[tuple[str, int], str]]:
    """The image after the elections, and the results by partition."""
    topics = None
    if requested is not None:
        topics = [TopicPartitions(topic=name, partitions=ids) for name, ids in requested.items()]
    outcome = elect_leaders(
        cluster(), ElectLeadersRequest(election_type=kind, topic_partitions=topics), context()
    )
    return applied(cluster(), outcome.records), results(outcome)


def results(outcome: OperationOutcome[ElectLeadersResponse]) -> dict[tuple[str, int], str]:
    assert outcome.response.error_code == 0
    return {
        (elected.topic, each.partition_id): ErrorCode(each.error_code).name
        for elected in outcome.response.replica_election_results
        for each in elected.partition_result
    }


def leader(image: MetadataImage, name: str, partition_id: int = 0) -> int:
    return image.topics.by_name[name].partitions[partition_id].leader


def test_preferred_election_gives_leadership_back() -> None:
    image, found = elect(ElectionType.PREFERRED, {"other": [1]})
    assert found == {("other", 1): "NONE"}
    assert leader(image, "other", 1) == 1
    assert leader(image, "other", 0) == 2


@pytest.mark.parametrize(
    ("kind", "name", "partition_id", "code"),
    [
        (ElectionType.PREFERRED, "preferred", 0, "ELECTION_NOT_NEEDED"),
        (ElectionType.UNCLEAN, "other", 0, "ELECTION_NOT_NEEDED"),
        (ElectionType.PREFERRED, "gone", 0, "PREFERRED_LEADER_NOT_AVAILABLE"),
        (ElectionType.PREFERRED, "lost", 0, "PREFERRED_LEADER_NOT_AVAILABLE"),
        (ElectionType.UNCLEAN, "dead", 0, "ELIGIBLE_LEADERS_NOT_AVAILABLE"),
        (ElectionType.UNCLEAN, "nobody", 0, "UNKNOWN_TOPIC_OR_PARTITION"),
        (ElectionType.UNCLEAN, "dead", 1, "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_elections_that_do_not_happen(
    kind: ElectionType, name: str, partition_id: int, code: str
) -> None:
    image, found = elect(kind, {name: [partition_id]})
    assert found == {(name, partition_id): code}
    assert image == cluster()


def test_unclean_election_takes_who_may_lack_records_whatever_the_topic_says() -> None:
    image, found = elect(ElectionType.UNCLEAN, {"lost": [0]})
    assert found == {("lost", 0): "NONE"}
    partition = image.topics.by_name["lost"].partitions[0]
    assert (partition.leader, partition.isr) == (1, (1,))
    assert partition.leader_recovery_state == RECOVERING
    assert partition.eligible_leader_replicas == ()


def test_all_partitions_are_elected_and_those_that_need_nothing_are_left_out() -> None:
    image, found = elect(ElectionType.PREFERRED, None)
    assert found == {
        ("other", 0): "NONE",
        ("other", 1): "NONE",
        ("gone", 0): "PREFERRED_LEADER_NOT_AVAILABLE",
        ("lost", 0): "PREFERRED_LEADER_NOT_AVAILABLE",
        ("dead", 0): "PREFERRED_LEADER_NOT_AVAILABLE",
    }
    assert leader(image, "other", 0) == leader(image, "other", 1) == 1


def test_success_has_no_message_and_failure_has_one() -> None:
    requested = ElectLeadersRequest(
        topic_partitions=[TopicPartitions(topic="other", partitions=[0, 5])]
    )
    _, response = elect_leaders(cluster(), requested, context())
    done, refused = response.replica_election_results[0].partition_result
    assert done.error_message is None
    assert refused.error_message == "No such partition as other-5"


def test_unknown_kind_of_election_is_refused() -> None:
    records, response = elect_leaders(cluster(), ElectLeadersRequest(election_type=2), context())
    assert not records
    assert response.error_code == ErrorCode.INVALID_REQUEST

"""Partitions that move to other brokers, or stop moving."""

import pytest

from ottla.controller.operations.alter_partition_reassignments import alter_partition_reassignments
from ottla.controller.operations.list_partition_reassignments import list_partition_reassignments
from ottla.metadata import MetadataImage, PartitionRegistration
from ottla.metadata.partition import RECOVERING, UNASSIGNED_DIRECTORY
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
)
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    topic,
    uuid,
)

ORDERS = Uuid(b"orders".ljust(16, b"."))


def cluster(*, isr: list[int] | None = None) -> MetadataImage:
    return image_of(
        features(),
        *(broker(number) for number in (1, 2, 3, 4)),
        broker(5, log_dirs=[uuid(505), uuid(605)]),
        topic("orders", [1, 2, 3], isr=isr),
    )


def reassign(
    image: MetadataImage,
    replicas: list[int] | None,
    *,
    name: str = "orders",
    partition_id: int = 0,
    can_change_factor: bool = True,
) -> tuple[MetadataImage, ReassignablePartitionResponse]:
    requested = ReassignablePartition(partition_index=partition_id, replicas=replicas)
    records, response = alter_partition_reassignments(
        image,
        AlterPartitionReassignmentsRequest(
            allow_replication_factor_change=can_change_factor,
            topics=[ReassignableTopic(name=name, partitions=[requested])],
        ),
        context(),
    )
    assert (response.error_code, response.error_message) == (0, None)
    assert response.allow_replication_factor_change == can_change_factor
    (answered,) = response.responses
    assert answered.name == name
    (result,) = answered.partitions
    return applied(image, records), result


def orders(image: MetadataImage) -> PartitionRegistration:
    return image.topics.by_name["orders"].partitions[0]


def caught_up(image: MetadataImage, *isr: int) -> MetadataImage:
    change = PartitionChangeRecord(topic_id=ORDERS, partition_id=0, isr=list(isr))
    return applied(image, [change])


def test_new_replicas_are_added_and_old_ones_stay_until_they_are_in_sync() -> None:
    image, result = reassign(cluster(), [4, 2, 5])
    assert (result.error_code, result.error_message) == (0, None)
    partition = orders(image)
    assert partition.replicas == (4, 2, 5, 1, 3)
    assert (partition.adding_replicas, partition.removing_replicas) == ((4, 5), (1, 3))
    assert (partition.leader, partition.isr, partition.leader_epoch) == (1, (1, 2, 3), 0)
    # One with several directories chooses for itself.
    assert partition.directories == (
        uuid(504),
        uuid(502),
        UNASSIGNED_DIRECTORY,
        uuid(501),
        uuid(503),
    )


def test_replicas_that_are_only_ordered_anew_are_so_at_once() -> None:
    partition = orders(reassign(cluster(), [3, 1, 2])[0])
    assert (partition.replicas, partition.leader) == ((3, 1, 2), 1)
    assert partition.directories == (uuid(503), uuid(501), uuid(502))
    assert not partition.adding_replicas
    assert not partition.removing_replicas


def test_replicas_that_only_go_are_gone_at_once_and_the_leadership_with_them() -> None:
    partition = orders(reassign(cluster(), [2, 3])[0])
    assert (partition.replicas, partition.isr) == ((2, 3), (2, 3))
    assert (partition.leader, partition.leader_epoch) == (2, 1)
    partition = orders(reassign(cluster(), [1, 2])[0])
    assert (partition.leader, partition.leader_epoch) == (1, 1)


def test_replicas_do_not_go_while_one_that_stays_is_not_in_sync() -> None:
    partition = orders(reassign(cluster(isr=[1]), [1, 2])[0])
    assert (partition.replicas, partition.removing_replicas) == ((1, 2, 3), (3,))


def test_move_to_where_the_partition_is_changes_nothing() -> None:
    image, result = reassign(cluster(), [1, 2, 3])
    assert result.error_code == 0
    assert image == cluster()


def test_move_that_is_taken_back_leaves_the_replicas_that_were() -> None:
    image, _ = reassign(cluster(), [4, 5])
    image, result = reassign(caught_up(image, 1, 2, 3, 4), None)
    assert result.error_code == 0
    partition = orders(image)
    assert (partition.replicas, partition.isr) == ((1, 2, 3), (1, 2, 3))
    assert partition.directories == (uuid(501), uuid(502), uuid(503))
    assert not partition.adding_replicas
    assert not partition.removing_replicas
    assert (partition.leader, partition.leader_epoch) == (1, 1)


def test_another_move_replaces_the_one_that_is_under_way_and_can_be_taken_back() -> None:
    image, _ = reassign(cluster(), [1, 2, 4])
    image, _ = reassign(image, [1, 4, 5])
    partition = orders(image)
    assert partition.replicas == (1, 4, 5, 2, 3)
    assert (partition.adding_replicas, partition.removing_replicas) == ((4, 5), (2, 3))
    assert set(orders(reassign(image, None)[0]).replicas) == {1, 2, 3}


def test_move_back_ends_the_move_at_once() -> None:
    image, _ = reassign(cluster(), [1, 2, 4])
    partition = orders(reassign(image, [1, 2, 3])[0])
    assert partition.replicas == (1, 2, 3)
    assert not partition.adding_replicas
    assert not partition.removing_replicas


def test_nothing_can_be_taken_back_if_nothing_moves() -> None:
    image, result = reassign(cluster(), None)
    assert result.error_code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    assert image == cluster()


def test_taking_back_needs_a_replica_in_sync_or_an_unclean_election() -> None:
    image, _ = reassign(cluster(isr=[3]), [4])
    leader = PartitionChangeRecord(topic_id=ORDERS, partition_id=0, isr=[4], leader=4)
    image = applied(image, [leader])
    _, result = reassign(image, None)
    assert result.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert result.error_message == (
        "Unable to revert partition assignment for orders:0 because it would require an unclean "
        "leader election."
    )
    unclean = ConfigRecord(
        resource_type=2, resource_name="orders", name="unclean.leader.election.enable", value="true"
    )
    image, result = reassign(applied(image, [unclean]), None)
    assert result.error_code == 0
    partition = orders(image)
    assert (partition.replicas, partition.leader, partition.isr) == ((1, 2, 3), 1, (1,))
    assert partition.leader_recovery_state == RECOVERING


@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        ([], "The manual partition assignment includes an empty replica list."),
        ([1, 1], "The manual partition assignment includes the broker 1 more than once."),
        (
            [1, 9],
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
    ],
)
def test_assignments_that_cannot_be(replicas: list[int], message: str) -> None:
    image, result = reassign(cluster(), replicas)
    assert result.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert result.error_message == message
    assert image == cluster()


def test_what_is_unknown_cannot_move() -> None:
    _, result = reassign(cluster(), [1], name="nobody")
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert result.error_message == "Unable to find a topic named nobody."
    _, result = reassign(cluster(), [1], partition_id=3)
    assert result.error_message == "Unable to find partition orders:3."


def test_request_can_forbid_that_the_replication_factor_changes() -> None:
    image, result = reassign(cluster(), [1, 2], can_change_factor=False)
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert image == cluster()
    image, result = reassign(cluster(), [1, 2, 4], can_change_factor=False)
    assert result.error_code == 0
    _, result = reassign(image, [1, 2, 5], can_change_factor=False)
    assert result.error_code == 0
    image, result = reassign(image, None, can_change_factor=False)
    assert result.error_code == 0
    image, _ = reassign(image, [4, 5])
    _, result = reassign(image, [1, 2, 3], can_change_factor=False)
    assert result.error_message == "The replication factor is changed from 2 to 3"


def ongoing(
    image: MetadataImage, requested: dict[str, list[int]] | None
) -> list[OngoingTopicReassignment]:
    topics = None
    if requested is not None:
        topics = [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=ids)
            for name, ids in requested.items()
        ]
    records, response = list_partition_reassignments(
        image, ListPartitionReassignmentsRequest(topics=topics), context()
    )
    assert not records
    assert (response.error_code, response.error_message) == (0, None)
    return response.topics


def test_only_what_moves_is_listed() -> None:
    assert ongoing(cluster(), None) == []
    image, _ = reassign(cluster(), [1, 2, 4])
    moving = OngoingTopicReassignment(
        name="orders",
        partitions=[
            OngoingPartitionReassignment(
                replicas=[1, 2, 4, 3], adding_replicas=[4], removing_replicas=[3]
            )
        ],
    )
    assert ongoing(image, None) == [moving]
    assert ongoing(image, {"orders": [0, 1], "nobody": [0]}) == [moving]
    assert ongoing(image, {"orders": [1]}) == []
    assert ongoing(image, {}) == []

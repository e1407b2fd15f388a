"""A leader says who is in sync."""

import pytest

from ottla.controller.operations.alter_partition import alter_partition
from ottla.metadata import MetadataImage
from ottla.metadata.partition import RECOVERED, RECOVERING
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    BrokerState,
)
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord
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

ORDERS = Uuid(b"orders".ljust(16, b"."))


def cluster(*, isr: list[int] | None = None) -> MetadataImage:
    """Brokers 1 to 3 serve, 4 is fenced, 5 shuts down; they all have a replica."""
    return image_of(
        features(),
        *(broker(number) for number in (1, 2, 3)),
        broker(4, fenced=True),
        broker(5, in_controlled_shutdown=True),
        topic("orders", [1, 2, 3, 4, 5], isr=isr or [1, 2]),
    )


def request(
    *isr: int | BrokerState,
    broker_id: int = 1,
    broker_epoch: int = 100,
    topic_id: Uuid = ORDERS,
    partition: int = 0,
    leader_epoch: int = 0,
    partition_epoch: int = 0,
    leader_recovery_state: int = RECOVERED,
) -> AlterPartitionRequest:
    states = [
        each if isinstance(each, BrokerState) else BrokerState(broker_id=each) for each in isr
    ]
    requested = AlterPartitionRequestPartitionData(
        partition_index=partition,
        leader_epoch=leader_epoch,
        new_isr_with_epochs=states,
        leader_recovery_state=leader_recovery_state,
        partition_epoch=partition_epoch,
    )
    topics = [AlterPartitionRequestTopicData(topic_id=topic_id, partitions=[requested])]
    return AlterPartitionRequest(broker_id=broker_id, broker_epoch=broker_epoch, topics=topics)


def only(response: AlterPartitionResponse) -> AlterPartitionResponsePartitionData:
    (altered,) = response.topics
    (partition,) = altered.partitions
    return partition


def test_leader_changes_the_isr_and_learns_the_new_state() -> None:
    image = cluster()
    records, response = alter_partition(image, request(1, 2, 3), context())
    assert records == [PartitionChangeRecord(topic_id=ORDERS, partition_id=0, isr=[1, 2, 3])]
    assert only(response) == AlterPartitionResponsePartitionData(
        leader_id=1, leader_epoch=0, isr=[1, 2, 3], partition_epoch=1
    )
    after = applied(image, records).topics.by_name["orders"].partitions[0]
    assert (after.isr, after.partition_epoch) == ((1, 2, 3), 1)


def test_request_without_broker_epochs_is_of_version_2() -> None:
    requested = request()
    requested.topics[0].partitions[0].new_isr = [1, 2, 3]
    records, response = alter_partition(cluster(), requested, context())
    assert len(records) == 1
    assert only(response).isr == [1, 2, 3]


def test_isr_that_is_so_already_changes_nothing_and_is_confirmed() -> None:
    records, response = alter_partition(cluster(), request(1, 2), context())
    assert not records
    assert only(response) == AlterPartitionResponsePartitionData(leader_id=1, isr=[1, 2])


@pytest.mark.parametrize("epoch", [99, 101])
def test_other_incarnation_of_the_leader_is_refused_as_a_whole(epoch: int) -> None:
    records, response = alter_partition(cluster(), request(1, broker_epoch=epoch), context())
    assert not records
    assert response == AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)


@pytest.mark.parametrize(
    ("requested", "code"),
    [
        (request(1, topic_id=uuid(9)), "UNKNOWN_TOPIC_ID"),
        (request(1, partition=1), "UNKNOWN_TOPIC_OR_PARTITION"),
        (request(1, leader_epoch=6), "NOT_CONTROLLER"),
        (request(1, partition_epoch=6), "NOT_CONTROLLER"),
        (request(1, leader_epoch=-1), "FENCED_LEADER_EPOCH"),
        (request(2, broker_id=2), "INVALID_REQUEST"),
        (request(1, partition_epoch=-1), "INVALID_UPDATE_VERSION"),
        (request(), "INVALID_REQUEST"),
        (request(2), "INVALID_REQUEST"),
        (request(1, 1), "INVALID_REQUEST"),
        (request(1, 9), "INVALID_REQUEST"),
        (request(1, -1), "INVALID_REQUEST"),
        (request(1, 2, leader_recovery_state=RECOVERING), "INVALID_REQUEST"),
        (request(1, leader_recovery_state=RECOVERING), "INVALID_REQUEST"),
        (request(1, leader_recovery_state=7), "INVALID_REQUEST"),
        (request(1, 4), "INELIGIBLE_REPLICA"),
        (request(1, 5), "INELIGIBLE_REPLICA"),
        (request(1, BrokerState(broker_id=2, broker_epoch=99)), "INELIGIBLE_REPLICA"),
    ],
)
def test_refusals(requested: AlterPartitionRequest, code: str) -> None:
    records, response = alter_partition(cluster(), requested, context())
    assert not records
    assert ErrorCode(only(response).error_code).name == code
    assert response.topics[0].topic_id == requested.topics[0].topic_id


def test_replica_of_the_incarnation_that_is_registered_is_eligible() -> None:
    state = BrokerState(broker_id=3, broker_epoch=100)
    records, _ = alter_partition(cluster(), request(1, 2, state), context())
    assert len(records) == 1


def test_unregistered_replica_is_ineligible() -> None:
    image = image_of(features(), broker(1), topic("orders", [1, 2], isr=[1]))
    _, response = alter_partition(image, request(1, 2), context())
    assert only(response).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_shrinking_below_the_minimum_makes_replicas_eligible_leaders() -> None:
    node = node_config(min_insync_replicas="2")
    records, _ = alter_partition(cluster(), request(1), context(node))
    assert records == [
        PartitionChangeRecord(
            topic_id=ORDERS, partition_id=0, isr=[1], eligible_leader_replicas=[2]
        )
    ]


def test_leader_that_recovered_from_an_unclean_election_says_so() -> None:
    recovering = PartitionChangeRecord(
        topic_id=ORDERS, partition_id=0, isr=[1], leader_recovery_state=RECOVERING
    )
    image = applied(cluster(), [recovering])
    requested = request(1, partition_epoch=1, leader_recovery_state=RECOVERING)
    records, response = alter_partition(image, requested, context())
    assert not records
    assert only(response).leader_recovery_state == RECOVERING
    records, response = alter_partition(image, request(1, 2, partition_epoch=1), context())
    assert records == [
        PartitionChangeRecord(
            topic_id=ORDERS, partition_id=0, isr=[1, 2], leader_recovery_state=RECOVERED
        )
    ]
    assert only(response).leader_recovery_state == RECOVERED


def moving(*, removing: list[int]) -> MetadataImage:
    change = PartitionChangeRecord(
        topic_id=ORDERS,
        partition_id=0,
        isr=[1, 2],
        replicas=[1, 2, 3],
        directories=[uuid(501), uuid(502), uuid(503)],
        adding_replicas=[3],
        removing_replicas=removing,
    )
    return applied(cluster(), [change])


def test_reassignment_ends_with_the_isr_that_completes_it() -> None:
    records, response = alter_partition(
        moving(removing=[2]), request(1, 2, 3, partition_epoch=1), context()
    )
    altered = only(response)
    assert (altered.error_code, altered.isr, altered.leader_id) == (0, [1, 3], 1)
    assert (altered.leader_epoch, altered.partition_epoch) == (1, 2)
    after = applied(moving(removing=[2]), records).topics.by_name["orders"].partitions[0]
    assert (after.replicas, after.adding_replicas, after.removing_replicas) == ((1, 3), (), ())


def test_leader_that_is_moved_away_receives_new_leader_elected() -> None:
    image = moving(removing=[1])
    records, response = alter_partition(image, request(1, 2, 3, partition_epoch=1), context())
    assert only(response).error_code == ErrorCode.NEW_LEADER_ELECTED
    after = applied(image, records).topics.by_name["orders"].partitions[0]
    assert (after.leader, after.leader_epoch, after.isr) == (2, 1, (2, 3))


def test_one_refused_partition_does_not_concern_the_others() -> None:
    requested = request(1, 2, 3)
    requested.topics[0].partitions += request(1, partition=7).topics[0].partitions
    records, response = alter_partition(cluster(), requested, context())
    assert len(records) == 1
    assert [each.error_code for each in response.topics[0].partitions] == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]

"""Brokers that say in which directory their replicas are."""

from ottla.controller.operations.assign_replicas_to_dirs import assign_replicas_to_dirs
from ottla.metadata import NO_LEADER, MetadataImage
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectoryData,
    AssignReplicasToDirsRequestPartitionData,
    AssignReplicasToDirsRequestTopicData,
)
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
FIRST, SECOND, LOST = uuid(501), uuid(601), uuid(701)


def cluster(**levels: int) -> MetadataImage:
    return image_of(
        features(**levels),
        broker(1, log_dirs=[FIRST, SECOND]),
        broker(2),
        topic("orders", [1, 2], [2], [1]),
    )


def request(
    directory: Uuid, *partitions: int, topic_id: Uuid = ORDERS, epoch: int = 100
) -> AssignReplicasToDirsRequest:
    requested = AssignReplicasToDirsRequestTopicData(
        topic_id=topic_id,
        partitions=[
            AssignReplicasToDirsRequestPartitionData(partition_index=each) for each in partitions
        ],
    )
    directories = [AssignReplicasToDirsRequestDirectoryData(id=directory, topics=[requested])]
    return AssignReplicasToDirsRequest(broker_id=1, broker_epoch=epoch, directories=directories)


def test_replicas_are_where_their_broker_says() -> None:
    image = cluster()
    records, response = assign_replicas_to_dirs(image, request(SECOND, 0, 2), context())
    assert response.error_code == 0
    (directory,) = response.directories
    assert (directory.id, directory.topics[0].topic_id) == (SECOND, ORDERS)
    assert [(each.partition_index, each.error_code) for each in directory.topics[0].partitions] == [
        (0, 0),
        (2, 0),
    ]
    partitions = applied(image, records).topics.by_name["orders"].partitions
    assert partitions[0].directories == (SECOND, uuid(502))
    assert partitions[2].directories == (SECOND,)
    assert [each.leader_epoch for each in partitions.values()] == [0, 0, 0]


def test_assignment_that_is_known_changes_nothing() -> None:
    records, _ = assign_replicas_to_dirs(cluster(), request(FIRST, 0), context())
    assert not records


def test_eligible_leaders_stay_so() -> None:
    node = node_config(min_insync_replicas="2")
    image = image_of(
        features(),
        broker(1, log_dirs=[FIRST, SECOND]),
        broker(2, fenced=True),
        topic("orders", [1, 2], isr=[1], elr=[2]),
    )
    records, _ = assign_replicas_to_dirs(image, request(SECOND, 0), context(node))
    partition = applied(image, records).topics.by_name["orders"].partitions[0]
    assert partition.eligible_leader_replicas == (2,)


def test_replica_in_a_directory_that_is_offline_is_out_of_sync() -> None:
    image = cluster()
    records, response = assign_replicas_to_dirs(image, request(LOST, 0), context())
    assert response.directories[0].topics[0].partitions[0].error_code == 0
    assert len(records) == 1
    partition = applied(image, records).topics.by_name["orders"].partitions[0]
    assert (partition.directories, partition.isr, partition.leader) == (
        (LOST, uuid(502)),
        (2,),
        2,
    )


def test_replica_that_is_in_a_good_directory_again_can_lead() -> None:
    image = image_of(
        features(),
        broker(1, log_dirs=[SECOND]),
        topic("orders", [1], isr=[], elr=[1], leader=NO_LEADER),
    )
    records, _ = assign_replicas_to_dirs(image, request(SECOND, 0), context())
    partition = applied(image, records).topics.by_name["orders"].partitions[0]
    assert (partition.leader, partition.isr) == (1, (1,))


def test_refusals_of_partitions() -> None:
    for requested, code in (
        (request(SECOND, 0, topic_id=uuid(9)), ErrorCode.UNKNOWN_TOPIC_ID),
        (request(SECOND, 9), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (request(SECOND, 1), ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ):
        records, response = assign_replicas_to_dirs(cluster(), requested, context())
        assert not records
        assert response.directories[0].topics[0].partitions[0].error_code == code


def test_refusals_of_requests() -> None:
    records, response = assign_replicas_to_dirs(cluster(), request(SECOND, 0, epoch=1), context())
    assert not records
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
    old = cluster(metadata_version=16, eligible_leader_replicas_version=0)
    records, response = assign_replicas_to_dirs(old, request(SECOND, 0), context())
    assert not records
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION

from __future__ import annotations

import pytest

from ottla.broker.administration.authorized_operations import (
    CLUSTER_OPERATIONS,
    NOT_REQUESTED,
    TOPIC_OPERATIONS,
)
from ottla.metadata import NO_LEADER, BrokerRegistration, Endpoint, MetadataDelta
from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from tests.support.nodes.one_node import HOST, LISTENER, NODE_ID, PORT, OneNode, StartNode

LATEST = 13
OTHER_NODE = 7


def fetch_metadata(
    node: OneNode, *names: str, version: int = LATEST, create: bool = False
) -> MetadataResponse:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=create,
    )
    response: MetadataResponse = node.send_request(request, version)
    return response


def fetch_by_id(node: OneNode, *ids: Uuid) -> list[MetadataResponseTopic]:
    topics = [MetadataRequestTopic(name=None, topic_id=each) for each in ids]
    response: MetadataResponse = node.send_request(MetadataRequest(topics=topics), LATEST)
    return response.topics


def add_broker(node: OneNode, *, listener: str = LISTENER, fenced: bool = False) -> None:
    node.image.brokers[OTHER_NODE] = BrokerRegistration(
        id=OTHER_NODE,
        epoch=1,
        incarnation_id=ZERO_UUID,
        endpoints=(Endpoint(listener, "other.example", 19092, 0),),
        features={},
        rack="r2",
        fenced=fenced,
        in_controlled_shutdown=False,
        is_migrating_zk_broker=False,
        log_dirs=(),
        cordoned_log_dirs=None,
    )


def lead_elsewhere(node: OneNode, topic: str, *, leader: int = OTHER_NODE) -> None:
    partitions = node.image.topics.by_name[topic].partitions
    directory = partitions[0].directories[0]
    partitions[0] = partitions[0]._replace(
        leader=leader,
        replicas=(NODE_ID, OTHER_NODE),
        isr=(NODE_ID, OTHER_NODE),
        directories=(directory, ZERO_UUID),
    )


@pytest.mark.parametrize("version", range(14))
def test_a_topic_is_shown_in_every_version(node: OneNode, version: int) -> None:
    topic_id = node.create_topic("orders", partitions=2)

    response = fetch_metadata(node, "orders", version=version)

    (broker,) = response.brokers
    assert (broker.node_id, broker.host, broker.port) == (NODE_ID, HOST, PORT)
    (topic,) = response.topics
    assert (topic.error_code, topic.name) == (ErrorCode.NONE, "orders")
    assert [each.partition_index for each in topic.partitions] == [0, 1]
    assert {each.leader_id for each in topic.partitions} == {NODE_ID}
    assert [(each.replica_nodes, each.isr_nodes) for each in topic.partitions] == [
        ([NODE_ID], [NODE_ID])
    ] * 2
    if version >= 1:
        assert response.controller_id == NODE_ID
    if version >= 2:
        assert response.cluster_id == node.controller.cluster_id
    if version >= 10:
        assert topic.topic_id == topic_id


def test_no_list_requests_all_topics_and_an_empty_one_none(node: OneNode) -> None:
    node.create_topic("orders")
    node.create_topic("payments")

    everything = node.send_request(MetadataRequest(topics=None), LATEST)
    nothing = fetch_metadata(node)

    assert {topic.name for topic in everything.topics} == {"orders", "payments"}
    assert nothing.topics == []
    assert nothing.brokers


def test_in_version_0_an_empty_list_requests_all_topics(node: OneNode) -> None:
    node.create_topic("orders")

    assert [topic.name for topic in fetch_metadata(node, version=0).topics] == ["orders"]


def test_a_topic_named_twice_is_shown_once(node: OneNode) -> None:
    node.create_topic("orders")

    assert len(fetch_metadata(node, "orders", "orders").topics) == 1


def test_topics_are_found_by_id(node: OneNode) -> None:
    topic_id = node.create_topic("orders")
    unknown = Uuid(b"?" * 16)

    missing, found = fetch_by_id(node, topic_id, unknown)

    assert (missing.error_code, missing.name) == (ErrorCode.UNKNOWN_TOPIC_ID, None)
    assert missing.topic_id == unknown
    assert (found.error_code, found.name) == (ErrorCode.NONE, "orders")


@pytest.mark.parametrize("version", [10, 11])
def test_ids_are_refused_in_versions_that_have_only_the_field_for_them(
    node: OneNode, version: int
) -> None:
    topic_id = node.create_topic("orders")
    topics = [MetadataRequestTopic(name="orders", topic_id=topic_id)]

    (topic,) = node.send_request(MetadataRequest(topics=topics), version).topics

    assert topic.error_code == ErrorCode.INVALID_REQUEST


def test_what_there_is_not_has_an_error_each(node: OneNode) -> None:
    unknown, impossible = fetch_metadata(node, "orders", "no/topic").topics

    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert impossible.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_missing_topic_is_made_and_can_be_used_at_once(node: OneNode) -> None:
    (topic,) = fetch_metadata(node, "orders", create=True).topics

    assert topic.error_code == ErrorCode.NONE
    assert [each.leader_id for each in topic.partitions] == [NODE_ID]
    assert node.log("orders").log_end_offset == 0


def test_versions_before_4_always_allow_creation(node: OneNode) -> None:
    assert fetch_metadata(node, "orders", version=3).topics[0].error_code == ErrorCode.NONE


def test_metadata_by_id_or_of_all_topics_creates_nothing(node: OneNode) -> None:
    node.send_request(MetadataRequest(topics=None, allow_auto_topic_creation=True), LATEST)
    fetch_by_id(node, Uuid(b"?" * 16))

    assert not len(node.broker.cluster.image.topics)


def test_a_broker_that_makes_no_topics_says_that_there_is_none(start_node: StartNode) -> None:
    node = start_node(configs={"auto.create.topics.enable": "false"})

    (topic,) = fetch_metadata(node, "orders", create=True).topics

    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_failed_creation_has_a_reason(start_node: StartNode) -> None:
    node = start_node(configs={"default.replication.factor": "3"})

    (topic,) = fetch_metadata(node, "orders", create=True).topics

    assert topic.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_internal_topics_are_not_created_by_metadata_requests(node: OneNode) -> None:
    (topic,) = fetch_metadata(node, "__consumer_offsets", create=True).topics

    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert topic.is_internal


def test_authorized_operations_are_returned_on_request(node: OneNode) -> None:
    node.create_topic("orders")
    request = MetadataRequest(
        topics=None,
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )

    with_operations = node.send_request(request, 10)

    assert with_operations.cluster_authorized_operations == CLUSTER_OPERATIONS
    assert with_operations.topics[0].topic_authorized_operations == TOPIC_OPERATIONS
    without_operations = fetch_metadata(node, "orders", version=10)
    assert without_operations.cluster_authorized_operations == NOT_REQUESTED
    assert without_operations.topics[0].topic_authorized_operations == NOT_REQUESTED


def test_the_bits_are_those_of_kafka() -> None:
    assert (TOPIC_OPERATIONS, CLUSTER_OPERATIONS) == (3576, 8096)


def test_metadata_lists_the_brokers_of_the_clients_listener(node: OneNode) -> None:
    add_broker(node, listener="INTERNAL")

    through_this = node.send_request(MetadataRequest(topics=[]), LATEST)
    through_that = node.send_request(MetadataRequest(topics=[]), LATEST, listener="INTERNAL")

    assert [broker.node_id for broker in through_this.brokers] == [NODE_ID]
    assert [broker.host for broker in through_that.brokers] == ["other.example"]


def test_a_fenced_broker_is_not_shown_and_its_replicas_are_offline(node: OneNode) -> None:
    node.create_topic("orders")
    add_broker(node, fenced=True)
    lead_elsewhere(node, "orders", leader=NODE_ID)

    response = fetch_metadata(node, "orders")

    assert [broker.node_id for broker in response.brokers] == [NODE_ID]
    assert response.topics[0].partitions[0].offline_replicas == [OTHER_NODE]


def test_a_broker_that_was_fenced_a_moment_ago_is_shown_but_leads_nothing(node: OneNode) -> None:
    node.create_topic("orders")
    add_broker(node)
    before = node.image.brokers[OTHER_NODE]
    add_broker(node, fenced=True)
    node.broker.departures.apply(MetadataDelta(brokers_changed={OTHER_NODE: before}), node.image)
    lead_elsewhere(node, "orders", leader=NODE_ID)

    response = fetch_metadata(node, "orders")

    assert [broker.node_id for broker in response.brokers] == [NODE_ID, OTHER_NODE]
    assert response.controller_id == NODE_ID
    assert response.topics[0].partitions[0].offline_replicas == [OTHER_NODE]


def test_a_partition_without_a_leader_says_so(node: OneNode) -> None:
    node.create_topic("orders")
    lead_elsewhere(node, "orders", leader=NO_LEADER)

    (partition,) = fetch_metadata(node, "orders").topics[0].partitions

    assert (partition.error_code, partition.leader_id) == (
        ErrorCode.LEADER_NOT_AVAILABLE,
        NO_LEADER,
    )


@pytest.mark.parametrize(
    ("version", "error"),
    [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)],
)
def test_a_leader_without_the_clients_listener_has_an_error_of_its_own_since_version_6(
    node: OneNode, version: int, error: ErrorCode
) -> None:
    node.create_topic("orders")
    add_broker(node, listener="INTERNAL")
    lead_elsewhere(node, "orders")

    (partition,) = fetch_metadata(node, "orders", version=version).topics[0].partitions

    assert (partition.error_code, partition.leader_id) == (error, NO_LEADER)


def test_version_0_leaves_out_replicas_that_cannot_be_reached(node: OneNode) -> None:
    node.create_topic("orders")
    lead_elsewhere(node, "orders", leader=NODE_ID)

    (partition,) = fetch_metadata(node, "orders", version=0).topics[0].partitions

    assert partition.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
    assert (partition.replica_nodes, partition.isr_nodes) == ([NODE_ID], [NODE_ID])


def test_a_replica_in_a_directory_that_its_broker_lost_is_offline(node: OneNode) -> None:
    node.create_topic("orders")
    partitions = node.image.topics.by_name["orders"].partitions
    partitions[0] = partitions[0]._replace(directories=(Uuid(b"lost directory.."),))

    (partition,) = fetch_metadata(node, "orders").topics[0].partitions

    assert partition.offline_replicas == [NODE_ID]

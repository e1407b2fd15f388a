"""Share groups on tenants' listeners: two tenants use one name, and dead letters stay in the
tenant."""

from __future__ import annotations

from typing import Any, Final

from ottla.model import ErrorCode, Uuid
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire
from ottla.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.share_group_describe import ShareGroupDescribeRequest
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.wire.records import iterate_batches, iterate_records
from ottla.wire.schema import Message
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.tenancy.tenant_node import TenantClient
from tests.unit.broker.tenancy.test_tenant_listener import create, pair, produce, topics_of

GROUP: Final = "workers"
_GROUP_RESOURCE: Final = 32
REJECT: Final = 3


class Worker:
    """A member of the share group `workers` of a tenant, on the topic `orders`."""

    def __init__(self, client: TenantClient) -> None:
        self.client = client
        create(client, "orders")
        client.send(FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP]))
        self.topic_id: Uuid = topics_of(client)["orders"]

    def configure(self, **configs: str) -> None:
        resource = AlterConfigsResource(
            resource_type=_GROUP_RESOURCE,
            resource_name=GROUP,
            configs=[AlterableConfig(name=name, value=value) for name, value in configs.items()],
        )
        request = IncrementalAlterConfigsRequest(resources=[resource])
        (answer,) = self.client.send(request).responses
        assert not answer.error_code, answer

    def join_request(self) -> Message:
        return ShareGroupHeartbeatRequest(
            group_id=GROUP, member_id="m", subscribed_topic_names=["orders"]
        )

    def fetch_request(self, topic_id: Uuid) -> Message:
        topic = fetch_wire.FetchTopic(
            topic_id=topic_id, partitions=[fetch_wire.FetchPartition(partition_index=0)]
        )
        return fetch_wire.ShareFetchRequest(
            group_id=GROUP, member_id="m", max_records=10, batch_size=10, topics=[topic]
        )

    def acknowledge_request(self, kind: int) -> Message:
        batch = ack_wire.AcknowledgementBatch(
            first_offset=0, last_offset=0, acknowledge_types=[kind]
        )
        partition = ack_wire.AcknowledgePartition(
            partition_index=0, acknowledgement_batches=[batch]
        )
        topic = ack_wire.AcknowledgeTopic(topic_id=self.topic_id, partitions=[partition])
        return ack_wire.ShareAcknowledgeRequest(
            group_id=GROUP, member_id="m", share_session_epoch=1, topics=[topic]
        )

    def send_all(self, *requests: Message) -> list[Any]:
        answers = self.client.send_all(requests)
        assert [getattr(each, "error_code", 0) for each in answers] == [0] * len(requests)
        return answers


def workers(start_node: StartNode) -> tuple[OneNode, Worker, Worker]:
    node, *clients = pair(start_node)
    acme, beta = map(Worker, clients)
    for worker in (acme, beta):
        worker.configure(**{"share.auto.offset.reset": "earliest"})
    return node, acme, beta


def test_two_tenants_have_a_share_group_of_one_name(start_node: StartNode) -> None:
    _, acme, beta = workers(start_node)
    for worker, value in ((acme, b"of acme"), (beta, b"of beta")):
        produce(worker.client, "orders", value)
    for worker, value in ((acme, b"of acme"), (beta, b"of beta")):
        wanted = DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=None)
        joined, fetched, described, offsets = worker.send_all(
            worker.join_request(),
            worker.fetch_request(worker.topic_id),
            ShareGroupDescribeRequest(group_ids=[GROUP]),
            DescribeShareGroupOffsetsRequest(groups=[wanted]),
        )
        assert joined.assignment.topic_partitions[0].topic_id == worker.topic_id
        (topic,) = fetched.responses
        assert topic.topic_id == worker.topic_id
        (partition,) = topic.partitions
        assert partition.acquired_records[0].delivery_count == 1
        assert value in bytes(partition.records)
        (group,) = described.groups
        assert group.group_id == GROUP
        assert group.members[0].subscribed_topic_names == ["orders"]
        assert [each.topic_name for each in offsets.groups[0].topics] == ["orders"]


def test_the_id_of_anothers_topic_is_unknown_to_share_groups(start_node: StartNode) -> None:
    _, acme, beta = workers(start_node)
    produce(beta.client, "orders", b"of beta")
    _, fetched = acme.send_all(acme.join_request(), acme.fetch_request(beta.topic_id))
    (topic,) = fetched.responses
    assert topic.topic_id == beta.topic_id
    assert topic.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert not topic.partitions[0].records


def test_dead_letters_stay_in_the_tenant(start_node: StartNode) -> None:
    node, acme, _ = workers(start_node)
    takes = {"errors.deadletterqueue.group.enable": "true"}
    for name in ("dlq.orders", "beta.dlq.orders", "acme.dlq.orders"):
        node.create_topic(name, configs=takes)
    update = FeatureUpdateKey(feature="share.version", max_version_level=2, upgrade_type=1)
    changed = node.send_to_controller(UpdateFeaturesRequest(feature_updates=[update]), 1)
    assert not changed.error_code
    acme.configure(**{"errors.deadletterqueue.topic.name": "dlq.orders"})
    produce(acme.client, "orders", b"bad")
    *_, acknowledged = acme.send_all(
        acme.join_request(),
        acme.fetch_request(acme.topic_id),
        acme.acknowledge_request(REJECT),
    )
    (answer,) = acknowledged.responses
    assert answer.topic_id == acme.topic_id
    assert answer.partitions[0].error_code == 0
    ends = {
        name: node.log(name).log_end_offset
        for name in ("dlq.orders", "beta.dlq.orders", "acme.dlq.orders")
    }
    assert ends == {"dlq.orders": 0, "beta.dlq.orders": 0, "acme.dlq.orders": 1}
    log = node.log("acme.dlq.orders")
    found = log.read(0, bytes_max=1 << 20, upper_offset=1)
    assert found is not None
    data = found.read()
    (record,) = (each for at, _ in iterate_batches(data) for each in iterate_records(data, at))
    headers = dict(record.headers)
    assert headers["__dlq.errors.topic"] == b"orders"
    assert headers["__dlq.errors.group"] == GROUP.encode()

"""A broker that follows a node without a network, as far as that node knows it."""

from __future__ import annotations

from ottla.controller.operations.register_broker import register_broker
from ottla.metadata import SUPPORTED_FEATURES
from ottla.metadata.broker import feature_structs
from ottla.model import Uuid
from ottla.replication.partition import Partition
from ottla.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from tests.support.nodes.one_node import NODE_ID, OneNode
from tests.support.storage.batches import batch_of

FOLLOWER = 2


def register_follower(node: OneNode) -> None:
    """A broker that has not begun to serve, and is therefore in no ISR."""
    request = BrokerRegistrationRequest(
        broker_id=FOLLOWER,
        cluster_id=node.controller.cluster_id,
        listeners=[Listener(name="PLAINTEXT", host="follower.example", port=9092)],
        features=feature_structs(Feature, SUPPORTED_FEATURES),
        rack=None,
        log_dirs=[Uuid(b"the follower's d")],
    )
    assert node.run(node.controller.submit(register_broker, request)).error_code == 0


def led_partition(node: OneNode) -> Partition:
    """One that the follower has nothing of."""
    register_follower(node)
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=[NODE_ID, FOLLOWER])
    topic = CreatableTopic(
        name="orders", num_partitions=-1, replication_factor=-1, assignments=[assignment]
    )
    (result,) = node.send_request(CreateTopicsRequest(topics=[topic]), 7).topics
    assert result.error_code == 0, result.error_message
    node.append("orders", *(batch_of(bytes(1_000)) for _ in range(20)))
    return node.broker.partitions.by_name("orders", 0)

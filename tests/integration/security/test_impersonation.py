"""A client of a real node cannot pose as a replica, a controller, a coordinator or another client:
each attempt is refused with Kafka's error, and changes nothing.

It repeats CVE-2018-1288 (a fetch as a replica), CVE-2018-17196 and CVE-2023-50976 (transactions
without the right to them).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.client_host import encode_host
from ottla.security.principal import ANONYMOUS, encode_principal
from ottla.wire.apis import LISTENERS, ApiKey, ListenerKind, request_class
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.wire.schema import Message
from tests.support.authorization.node_apis import enveloped
from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.wire_connection import WireConnection, framed
from tests.support.security.attacked_node import BOBS_PASSWORD, PASSWORD, TOPIC, AttackedNode
from tests.support.security.attacks import refused_quickly, under_attack
from tests.support.security.sasl_wire import log_in_plainly
from tests.support.storage.batches import batch_of

CLUSTER_REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
TOPIC_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
TRANSACTION_REFUSED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
NODE_ID = 1
RECORD = b"a record of alice"
TRANSACTION = "of-alice"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedNode]:
    with under_attack(tmp_path_factory.mktemp("node"), secrets=(PASSWORD, "evil")) as node:
        with connected(node, "alice") as alice:
            assert produced(alice, bytes(batch_of(RECORD, timestamp=-1))) == [0]
        yield node


@pytest.fixture(autouse=True)
def _nothing_changes(node: AttackedNode) -> Iterator[None]:
    with node.connect("ADMIN") as admin:
        before = state_of(admin)
        with refused_quickly(node):
            yield
        assert state_of(admin) == before


@contextmanager
def connected(node: AttackedNode, name: str, listener: str = "CLIENTS") -> Iterator[WireConnection]:
    with node.connect(listener) as connection:
        password = PASSWORD if name == "alice" else BOBS_PASSWORD
        assert log_in_plainly(connection, name, password).error_code == 0
        yield connection


def state_of(admin: WireConnection) -> tuple[Any, ...]:
    """What an intruder would change: brokers, leaders, offsets, the quorum."""
    metadata = admin.send_request(MetadataRequest(topics=None), 12)
    partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
    offsets = admin.send_request(
        ListOffsetsRequest(topics=[ListOffsetsTopic(name=TOPIC, partitions=[partition])]), 7
    )
    described = DescribeQuorumRequestTopicData(
        topic_name="__cluster_metadata", partitions=[DescribeQuorumRequestPartitionData()]
    )
    quorum = admin.send_request(DescribeQuorumRequest(topics=[described]), 2).topics[0]
    (log,) = quorum.partitions
    return (
        metadata.brokers,
        [topic for topic in metadata.topics if not topic.is_internal],
        offsets.topics,
        (log.leader_id, log.leader_epoch, [each.replica_id for each in log.current_voters]),
    )


# ---- a replica


def fetch(version: int, replica: int, *, topic: str = TOPIC, offset: int = 0) -> FetchRequest:
    partition = FetchPartition(fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        session_epoch=-1,
        topics=[FetchTopic(topic=topic, partitions=[partition])],
    )
    if version < 15:
        request.replica_id = replica
    elif replica >= 0:
        request.replica_state = ReplicaState(replica_id=replica, replica_epoch=0)
    return request


@pytest.mark.parametrize("replica", [NODE_ID, 2, 7, 2**31 - 1])
@pytest.mark.parametrize("offset", [0, 1, 10**9])
def test_a_client_cannot_fetch_as_a_replica(node: AttackedNode, replica: int, offset: int) -> None:
    with connected(node, "alice") as alice:
        answer = alice.send_request(fetch(12, replica, offset=offset), 12)
        (partition,) = answer.responses[0].partitions
        assert (partition.error_code, partition.high_watermark) == (TOPIC_REFUSED, -1)
        assert not partition.records
        # As a consumer it may.
        (partition,) = alice.send_request(fetch(12, -1), 12).responses[0].partitions
        assert RECORD in bytes(partition.records)


@pytest.mark.parametrize("version", [15, 17])
def test_a_client_cannot_fetch_as_a_replica_in_later_versions(
    node: AttackedNode, version: int
) -> None:
    with connected(node, "alice") as alice:
        topics = alice.send_request(MetadataRequest(topics=None), 12).topics
        request = fetch(version, 2)
        request.topics[0].topic_id = topics[0].topic_id
        (partition,) = alice.send_request(request, version).responses[0].partitions
        assert (partition.error_code, partition.high_watermark) == (TOPIC_REFUSED, -1)


def test_the_metadata_log_is_no_topic_of_clients(node: AttackedNode) -> None:
    """It has the credentials of all users. Alice may read every topic there is."""
    with connected(node, "alice") as alice:
        answer = alice.send_request(fetch(12, -1, topic="__cluster_metadata"), 12)
        (partition,) = answer.responses[0].partitions
        assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert not partition.records
    with connected(node, "bob") as bob:
        answer = bob.send_request(fetch(12, -1, topic="__cluster_metadata"), 12)
        assert answer.responses[0].partitions[0].error_code == TOPIC_REFUSED


# ---- another node, at the controller

NODE_APIS = sorted(
    key
    for key, kinds in LISTENERS.items()
    if kinds == frozenset({ListenerKind.CONTROLLER}) and key is not ApiKey.ENVELOPE
)


def assert_refused_or_closed(connection: WireConnection, request: Message, version: int) -> None:
    """Closed where the response has no place for the error."""
    try:
        answer = connection.send_request(request, version)
    except ConnectionResetError:
        return
    assert answer.error_code == CLUSTER_REFUSED


@pytest.mark.parametrize("key", NODE_APIS, ids=lambda key: key.name)
def test_a_client_cannot_pose_as_a_node_of_the_quorum(node: AttackedNode, key: ApiKey) -> None:
    cls = request_class(key)
    for version in (cls.stable.lowest, cls.stable.highest):
        with connected(node, "alice", "CONTROLLER") as alice:
            assert_refused_or_closed(alice, cls(), version)


@pytest.mark.parametrize("version", [4, 12])
def test_the_metadata_log_is_read_by_nodes_only(node: AttackedNode, version: int) -> None:
    with connected(node, "alice", "CONTROLLER") as alice:
        answer = alice.send_request(fetch(version, 2, topic="__cluster_metadata"), version)
    # Version 4 has no place for the error.
    assert answer.error_code == (CLUSTER_REFUSED if version > 4 else 0)
    assert answer.responses == []


@pytest.mark.parametrize("key", [*NODE_APIS, ApiKey.ENVELOPE], ids=lambda key: key.name)
def test_requests_of_nodes_are_not_served_on_listeners_of_clients(
    node: AttackedNode, key: ApiKey
) -> None:
    cls = request_class(key)
    with connected(node, "alice") as alice:
        alice.send(framed(cls(), cls.stable.highest))
        assert alice.receive_end() == b""


@pytest.mark.parametrize("listener", ["CONTROLLER", "CLIENTS"])
def test_a_client_cannot_forward_requests_of_an_administrator(
    node: AttackedNode, listener: str
) -> None:
    creation = CreateTopicsRequest(
        topics=[CreatableTopic(name="evil", num_partitions=1, replication_factor=1)]
    )
    principal, host = encode_principal(ANONYMOUS), encode_host("127.0.0.1")
    request = enveloped(creation, principal, host)
    with connected(node, "alice", listener) as alice:
        assert_refused_or_closed(alice, request, 0)


# ---- a coordinator


def test_a_client_cannot_write_transaction_markers(node: AttackedNode) -> None:
    marker = WritableTxnMarker(
        producer_id=0,
        producer_epoch=0,
        transaction_result=True,
        topics=[WritableTxnMarkerTopic(name=TOPIC, partition_indexes=[0, 1])],
    )
    with connected(node, "alice") as alice:
        answer = alice.send_request(WriteTxnMarkersRequest(markers=[marker]), 1)
    (topic,) = answer.markers[0].topics
    assert {each.error_code for each in topic.partitions} == {CLUSTER_REFUSED}


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("verify_only", [True, False])
def test_a_client_cannot_add_partitions_as_a_leader(
    node: AttackedNode, version: int, verify_only: bool
) -> None:
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=TRANSACTION,
        verify_only=verify_only,
        topics=[AddPartitionsToTxnTopic(name="__consumer_offsets", partitions=[0])],
    )
    with connected(node, "alice") as alice:
        request = AddPartitionsToTxnRequest(transactions=[transaction])
        assert alice.send_request(request, version).error_code == CLUSTER_REFUSED


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__transaction_state"])
def test_the_state_of_coordinators_is_not_written_by_clients(
    node: AttackedNode, topic: str
) -> None:
    with connected(node, "alice") as alice:
        batch = bytes(batch_of(b"evil", key=b"k", timestamp=-1))
        assert produced(alice, batch, topic=topic) == [ErrorCode.INVALID_TOPIC_EXCEPTION]


# ---- another client


def produced(
    connection: WireConnection,
    *batches: bytes,
    topic: str = TOPIC,
    transactional_id: str | None = None,
) -> list[int]:
    """The error codes of one batch for each partition."""
    data = [PartitionProduceData(index=index, records=batch) for index, batch in enumerate(batches)]
    request = ProduceRequest(
        acks=-1,
        transactional_id=transactional_id,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )
    (answer,) = connection.send_request(request, 9).responses
    return [partition.error_code for partition in answer.partition_responses]


def transactional(producer_id: int = 0) -> bytes:
    return bytes(
        batch_of(
            b"evil",
            timestamp=-1,
            producer_id=producer_id,
            producer_epoch=0,
            sequence=0,
            is_transactional=True,
        )
    )


@pytest.mark.parametrize("transactional_id", [None, "", TRANSACTION])
def test_transactions_need_their_right_in_every_batch(
    node: AttackedNode, transactional_id: str | None
) -> None:
    """Bob may write to the topic. Kafka once looked at the first batch only."""
    plain = bytes(batch_of(b"evil", timestamp=-1))
    node.allow("User:bob", AclOperation.WRITE, ResourceType.TOPIC)
    with connected(node, "bob") as bob:
        codes = produced(bob, plain, transactional(), transactional_id=transactional_id)
        assert codes == [TRANSACTION_REFUSED] * 2


def test_a_transaction_of_another_client_is_neither_begun_nor_ended(node: AttackedNode) -> None:
    with connected(node, "alice") as alice, connected(node, "bob") as bob:
        begin = InitProducerIdRequest(transactional_id=TRANSACTION, transaction_timeout_ms=60_000)
        find = FindCoordinatorRequest(key_type=1, coordinator_keys=[TRANSACTION])
        wait_until(
            lambda: not alice.send_request(find, 4).coordinators[0].error_code, "a coordinator"
        )
        wait_until(lambda: not alice.send_request(begin, 4).error_code, "a producer id")
        of_alice = alice.send_request(begin, 4)
        assert bob.send_request(begin, 4).error_code == TRANSACTION_REFUSED
        for committed in (True, False):
            end = EndTxnRequest(
                transactional_id=TRANSACTION,
                producer_id=of_alice.producer_id,
                producer_epoch=of_alice.producer_epoch,
                committed=committed,
            )
            assert bob.send_request(end, 3).error_code == TRANSACTION_REFUSED
        # Nobody has fenced her.
        again = alice.send_request(begin, 4)
        assert again.producer_epoch == of_alice.producer_epoch + 1


def test_a_fetch_session_of_another_client_gives_no_records(node: AttackedNode) -> None:
    with connected(node, "alice") as alice, connected(node, "bob") as bob:
        opening = fetch(12, -1)
        opening.session_epoch = 0
        opened = alice.send_request(opening, 12)
        assert opened.session_id
        stealing = FetchRequest(
            max_wait_ms=0, min_bytes=0, session_id=opened.session_id, session_epoch=1, topics=[]
        )
        stolen = bob.send_request(stealing, 12)
        assert stolen.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert not stolen.responses
        # It is still alice's.
        assert alice.send_request(stealing, 12).error_code == ErrorCode.NONE


# ---- the host


def test_a_node_opens_no_other_ports(node: AttackedNode) -> None:
    """No port of an administrator, and none that everyone on the network reaches."""
    inodes = set()
    for number in os.listdir(f"/proc/{node.pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{node.pid}/fd/{number}"))
        except FileNotFoundError:
            continue
    listening = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{node.pid}/net/{table}") as rows:
            for row in list(rows)[1:]:
                fields = row.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                    address, _, port = fields[1].partition(":")
                    listening.add((address, int(port, 16)))
    assert listening == {("0100007F", port) for port in node.ports}

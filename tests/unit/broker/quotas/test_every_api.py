"""The rows of Kafka's RequestQuotaTest: which requests are throttled, and what the client sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from ottla.broker.network.handling import HandledApi
from ottla.model import ErrorCode
from ottla.wire.apis import ApiKey, request_class, response_class
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_delegation_token import DescribeDelegationTokenRequest
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from ottla.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.push_telemetry import PushTelemetryRequest
from ottla.wire.messages.renew_delegation_token import RenewDelegationTokenRequest
from ottla.wire.messages.write_txn_markers import WriteTxnMarkersRequest
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import TOPIC, TRANSACTIONAL_ID, AuthorizedApi
from tests.support.authorization.authorized_node import CONFIGS
from tests.support.authorization.group_apis import commit_offset, find
from tests.support.authorization.transaction_apis import init_producer
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.quotas.quota_changes import set_quota
from tests.support.storage.batches import batch_of
from tests.unit.broker.authorization.test_every_api import BROKER_APIS

OF_NODES: Final = {ApiKey.WRITE_TXN_MARKERS}
# They need no rights, so the table of rights does not have them.
WITHOUT_RIGHTS: Final = tuple(
    AuthorizedApi(ApiKey(cls.api_key or 0), lambda _node, cls=cls: cls(), ())  # type: ignore[misc]
    for cls in (
        ApiVersionsRequest,
        DescribeClusterRequest,
        DescribeDelegationTokenRequest,
        ExpireDelegationTokenRequest,
        GetTelemetrySubscriptionsRequest,
        ListGroupsRequest,
        ListTransactionsRequest,
        PushTelemetryRequest,
        RenewDelegationTokenRequest,
    )
)
APIS: Final = (*BROKER_APIS, *WITHOUT_RIGHTS)
HANDLING_SECONDS: Final = 0.005
# What a request of 5 ms exceeds so far that the longest throttle time applies.
SMALL: Final = {"request_percentage": 0.01}
LARGE: Final = {"request_percentage": 2_000.0}
LONGEST_MS: Final = 1_000
CLIENT: Final = "client"


def start(start_node: StartNode, *, authorizer: bool = False) -> OneNode:
    # Without metrics, a node has no telemetry of clients.
    configs = {**CONFIGS, "ottla.metrics.listener": "0"}
    if not authorizer:
        del configs["authorizer.class.name"]
        del configs["super.users"]
    node = start_node(configs=configs)
    node.create_topic(TOPIC, partitions=2)
    node.send_request(find(0), 6)
    node.send_request(find(1, TRANSACTIONAL_ID), 6)
    assert node.send_request(init_producer(node), 5).error_code == 0
    node.send_request(commit_offset(node), 9)
    return node


def take_time(node: OneNode, api: HandledApi) -> None:
    """Lets each request of an API take some time."""
    handler: Callable[..., Any] = api.handler

    def slowly(*arguments: Any) -> Any:
        node.clock.advance(HANDLING_SECONDS)
        return handler(*arguments)

    api.handler = slowly


def send(client: ClientStream, request: Message, version: int, *, client_id: str = CLIENT) -> Any:
    assert request.api_key is not None
    parts = encode_request(request, version, correlation_id=0, client_id=client_id)
    client.feed(b"".join(parts))
    answers = client.answers()
    return decode_response(answers[0], request.api_key, version)[1] if answers else None


def has_throttle_time(response: Message, version: int) -> bool:
    options = response.field_options.get("throttle_time_ms")
    return options is not None and version in options.versions


def version_of(api: AuthorizedApi) -> int:
    return request_class(api.key).stable.highest if api.version is None else api.version


@pytest.mark.parametrize("quota", [SMALL, LARGE], ids=["small quota", "large quota"])
@pytest.mark.parametrize("api", APIS, ids=lambda api: api.id)
def test_a_client_is_throttled_with_every_api(
    start_node: StartNode, api: AuthorizedApi, quota: dict[str, float]
) -> None:
    node = start(start_node)
    api.prepare(node)
    request = api.request(node)
    set_quota(node, {"client-id": CLIENT}, quota)
    take_time(node, node.broker.apis[api.key])
    response = send(ClientStream(node), request, version_of(api))
    if response is None or not has_throttle_time(response, version_of(api)):
        return
    is_of_node = api.key in OF_NODES or getattr(request, "replica_state", None) is not None
    is_throttled = quota is SMALL and not is_of_node
    assert response.throttle_time_ms == (LONGEST_MS if is_throttled else 0)


def test_every_api_is_tried(start_node: StartNode) -> None:
    """Each row of Kafka's test; those that are left have no throttle time, in Kafka either."""
    left = {ApiKey(key) for key in start(start_node).broker.apis} - {api.key for api in APIS}
    assert left == {ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}
    for key in left:
        assert "throttle_time_ms" not in response_class(key).field_options


def test_the_time_of_a_coroutine_is_charged(start_node: StartNode) -> None:
    """But not the time for which it waits."""
    node = start(start_node)
    set_quota(node, {"client-id": CLIENT}, {"request_percentage": 1})

    async def slowly(_context: Any, _request: Any) -> MetadataResponse:
        for _ in range(3):
            node.clock.advance(HANDLING_SECONDS)
            await node.clock.sleep(1)
        return MetadataResponse()

    node.broker.apis[ApiKey.METADATA].handler = slowly
    response = send(ClientStream(node), MetadataRequest(topics=[]), 12)
    # 15 ms, in the windows of three seconds at least: ten.
    used = 100 * 3 * HANDLING_SECONDS / 10
    (usage,) = node.broker.client_quotas.usage()
    assert usage.used <= used * 1.1
    assert response.throttle_time_ms == 0
    node.clock.advance(20)
    set_quota(node, {"client-id": CLIENT}, SMALL)
    assert send(ClientStream(node), MetadataRequest(topics=[]), 12).throttle_time_ms == LONGEST_MS


def test_a_client_without_rights_is_throttled_too(start_node: StartNode) -> None:
    """Also one that sends the request of a node."""
    for key in (ApiKey.METADATA, ApiKey.WRITE_TXN_MARKERS):
        node = start(start_node, authorizer=True)
        set_quota(node, {"client-id": CLIENT}, SMALL)
        take_time(node, node.broker.apis[key])
        request: Message = MetadataRequest(topics=[])
        if key is ApiKey.WRITE_TXN_MARKERS:
            request = WriteTxnMarkersRequest()
        client = ClientStream(node)
        client.receive(framed_for(request))
        client.receive(framed_for(request))
        assert len(client.answers()) == 1, "the second request waits"


def names_topic(request: Message) -> bool:
    return isinstance(request, ProduceRequest) or (
        isinstance(request, FetchRequest) and bool(request.topics)
    )


def framed_for(request: Message, *, client_id: str = CLIENT) -> bytes:
    # The last ones that have the topic's name.
    version = 12 if names_topic(request) else type(request).stable.highest
    return b"".join(encode_request(request, version, correlation_id=0, client_id=client_id))


@pytest.mark.parametrize(
    "request_of_node",
    [
        WriteTxnMarkersRequest(),
        FetchRequest(
            replica_state=ReplicaState(replica_id=2, replica_epoch=-1),
            max_wait_ms=0,
            session_epoch=-1,
        ),
    ],
    ids=["WriteTxnMarkers", "Fetch of a follower"],
)
def test_requests_of_nodes_are_exempt(start_node: StartNode, request_of_node: Message) -> None:
    node = start(start_node)
    set_quota(node, {"client-id": CLIENT}, SMALL)
    assert request_of_node.api_key is not None
    take_time(node, node.broker.apis[request_of_node.api_key])
    client = ClientStream(node)
    for _ in range(3):
        client.receive(framed_for(request_of_node))
    assert len(client.answers()) == 3


def produce(size: int, *, acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index=0, records=bytes(batch_of(b"x" * size)))]
    topic = TopicProduceData(name=TOPIC, partition_data=data)
    return ProduceRequest(acks=acks, topic_data=[topic])


def fetch(**fields: Any) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=TOPIC, partitions=[partition])]
    usual: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 1, "session_epoch": -1}
    return FetchRequest(topics=topics, **{**usual, **fields})


def test_of_two_exceeded_quotas_the_longer_throttle_time_counts(start_node: StartNode) -> None:
    node = start(start_node)
    take_time(node, node.broker.apis[ApiKey.PRODUCE])
    set_quota(node, {"client-id": CLIENT}, {**SMALL, "producer_byte_rate": 1})
    response = send(ClientStream(node), produce(100), 9)
    assert response.throttle_time_ms > LONGEST_MS
    set_quota(node, {"client-id": CLIENT}, {**SMALL, "producer_byte_rate": 1e9})
    assert send(ClientStream(node), produce(100), 9).throttle_time_ms == LONGEST_MS


def test_a_produce_is_carried_out_and_then_throttled(start_node: StartNode) -> None:
    node = start(start_node)
    set_quota(node, {"client-id": CLIENT}, {"producer_byte_rate": 100})
    size = len(framed_for(produce(2_000))) - 4
    response = send(ClientStream(node), produce(2_000), 12)
    assert node.log(TOPIC).log_end_offset == 1
    # The rate is measured over ten seconds.
    assert response.throttle_time_ms == round((size / 10 - 100) / 100 * 10_000)


def test_a_produce_without_response_mutes_the_connection(start_node: StartNode) -> None:
    node = start(start_node)
    set_quota(node, {"client-id": CLIENT}, {"producer_byte_rate": 100})
    client = ClientStream(node)
    for _ in range(2):
        client.receive(framed_for(produce(2_000, acks=0)))
    assert node.log(TOPIC).log_end_offset == 1
    assert not client.is_read_from
    client.feed(b"")
    assert node.log(TOPIC).log_end_offset == 2


def test_a_fetch_over_quota_is_empty_and_not_counted(start_node: StartNode) -> None:
    node = start(start_node)
    node.append(TOPIC, batch_of(b"x" * 900))
    set_quota(node, {"client-id": CLIENT}, {"consumer_byte_rate": 150})
    client = ClientStream(node)
    first, second = (send(client, fetch(), 12) for _ in range(2))
    assert first.responses[0].partitions[0].records
    assert first.throttle_time_ms == 0
    assert second.responses == []
    assert second.error_code == ErrorCode.NONE
    waited_ms = second.throttle_time_ms
    assert 0 < waited_ms < 15_000
    node.clock.advance(waited_ms / 1_000 + 10)
    assert send(client, fetch(), 12).responses


def test_a_fetch_asks_for_no_more_than_a_quota_allows(start_node: StartNode) -> None:
    """Otherwise a large batch would be throttled for ever."""
    node = start(start_node)
    node.append(TOPIC, *(batch_of(b"x" * 500) for _ in range(10)))
    set_quota(node, {"client-id": CLIENT}, {"consumer_byte_rate": 200})
    response = send(ClientStream(node), fetch(min_bytes=100_000, max_wait_ms=1_000), 12)
    (partition,) = response.responses[0].partitions
    assert 0 < len(partition.records) <= 2_000


def test_a_throttled_session_goes_on(start_node: StartNode) -> None:
    node = start(start_node)
    client = ClientStream(node)
    opened = send(client, fetch(session_epoch=0), 12)
    assert opened.session_id
    set_quota(node, {"client-id": CLIENT}, {"consumer_byte_rate": 100})
    node.append(TOPIC, batch_of(b"x" * 900))
    node.append(TOPIC, batch_of(b"x" * 900))
    steps = []
    for epoch in (1, 2, 3):
        request = fetch(session_id=opened.session_id, session_epoch=epoch, max_bytes=1_000)
        response = send(client, request, 12)
        assert response.error_code == ErrorCode.NONE
        steps.append((bool(response.responses), response.throttle_time_ms > 0))
    assert (False, True) in steps
    assert (True, False) in steps


def test_the_next_request_waits_for_the_throttle_time(start_node: StartNode) -> None:
    node = start(start_node)
    take_time(node, node.broker.apis[ApiKey.METADATA])
    set_quota(node, {"client-id": CLIENT}, SMALL)
    client, other = ClientStream(node), ClientStream(node)
    request = framed_for(MetadataRequest(topics=[]))
    client.receive(request)
    client.receive(request)
    assert len(client.answers()) == 1
    assert not client.is_read_from
    # Another client is not affected.
    other.receive(framed_for(MetadataRequest(topics=[]), client_id="other"))
    assert len(other.answers()) == 1
    node.clock.advance(0.9)
    assert client.answers() == []
    client.feed(b"")
    assert len(client.answers()) == 1


def test_a_connection_that_closes_while_muted_leaves_no_timer(start_node: StartNode) -> None:
    node = start(start_node)
    take_time(node, node.broker.apis[ApiKey.METADATA])
    set_quota(node, {"client-id": CLIENT}, SMALL)
    client = ClientStream(node)
    client.receive(framed_for(MetadataRequest(topics=[])))
    client.end()
    node.clock.advance(5)


def test_a_removed_quota_throttles_no_more(start_node: StartNode) -> None:
    node = start(start_node)
    take_time(node, node.broker.apis[ApiKey.METADATA])
    set_quota(node, {"client-id": CLIENT}, SMALL)
    client = ClientStream(node)
    assert send(client, MetadataRequest(topics=[]), 12).throttle_time_ms == LONGEST_MS
    set_quota(node, {"client-id": CLIENT}, {"request_percentage": None})
    assert not node.broker.client_quotas.is_enabled
    assert send(client, MetadataRequest(topics=[]), 12).throttle_time_ms == 0

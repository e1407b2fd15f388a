"""GetTelemetrySubscriptions and PushTelemetry, as a client meets them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from ottla.broker.network.handling import RequestContext
from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.wire.apis import ApiKey
from ottla.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.push_telemetry import PushTelemetryRequest
from ottla.wire.records.compression import Codec, compress
from tests.support.nodes.one_node import OneNode, StartNode

ID = Uuid(bytes(range(16)))
BYTES_MAX = 5_000


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    return start_node(
        configs={"ottla.metrics.listener": "0", "telemetry.max.bytes": str(BYTES_MAX)}
    )


def alter(node: OneNode, **configs: str | None) -> tuple[int, str | None]:
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.CLIENT_METRICS,
        resource_name="basic",
        configs=[
            AlterableConfig(
                name=name.replace("_", "."),
                config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
                value=value,
            )
            for name, value in configs.items()
        ],
    )
    (result,) = node.send_request(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses
    return result.error_code, result.error_message


def subscribed(node: OneNode, id_: Uuid = ID) -> GetTelemetrySubscriptionsResponse:
    request = GetTelemetrySubscriptionsRequest(client_instance_id=id_)
    response: GetTelemetrySubscriptionsResponse = node.send_request(request, 0)
    return response


def payload(*values: float) -> bytes:
    data = MetricsData()
    scope = data.resource_metrics.add().scope_metrics.add()
    for number, value in enumerate(values):
        scope.metrics.add(name=f"m{number}").gauge.data_points.add(as_double=value)
    encoded: bytes = data.SerializeToString()
    return encoded


def push(
    node: OneNode,
    metrics: bytes,
    *,
    codec: int = Codec.NONE,
    subscription_id: int | None = None,
    id_: Uuid = ID,
    is_terminating: bool = False,
) -> int:
    if subscription_id is None:
        subscription_id = subscribed(node).subscription_id
    request = PushTelemetryRequest(
        client_instance_id=id_,
        subscription_id=subscription_id,
        terminating=is_terminating,
        compression_type=codec,
        metrics=metrics,
    )
    return int(node.send_request(request, 0).error_code)


def received(node: OneNode) -> dict[str, float]:
    return {
        key.metric: value
        for pushed in node.broker.client_telemetry.received
        for key, value in pushed.values.items()
    }


def test_a_client_gets_an_id_and_the_subscription_that_matches_it(node: OneNode) -> None:
    error = alter(
        node, metrics="org.apache.kafka.consumer.", interval_ms="1000", match="client_id=test"
    )
    assert error == (0, None)
    response = subscribed(node, ZERO_UUID)
    assert response.client_instance_id != ZERO_UUID
    assert response.requested_metrics == ["org.apache.kafka.consumer."]
    assert response.push_interval_ms == 1_000
    assert response.telemetry_max_bytes == BYTES_MAX
    assert response.accepted_compression_types == [4, 3, 1, 2]
    assert subscribed(node, response.client_instance_id).error_code == (
        ErrorCode.THROTTLING_QUOTA_EXCEEDED
    )


def test_a_subscription_that_changes_or_ends_reaches_its_clients(node: OneNode) -> None:
    alter(node, metrics="*", interval_ms="1000")
    before = subscribed(node)
    alter(node, metrics="a")
    assert push(node, b"", subscription_id=before.subscription_id) == (
        ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    )
    assert subscribed(node).requested_metrics == ["a"]
    assert alter(node, metrics=None, interval_ms=None) == (0, None)
    assert subscribed(node).requested_metrics == []


@pytest.mark.parametrize("codec", Codec)
def test_metrics_are_received_with_every_compression(node: OneNode, codec: Codec) -> None:
    assert push(node, compress(codec, payload(1, 2.5)), codec=codec) == 0
    assert received(node) == {"m0": 1, "m1": 2.5}
    assert node.broker.client_telemetry.clients == 1


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_is_refused_at_the_limit(node: OneNode, codec: Codec) -> None:
    bomb = compress(codec, bytes(100 << 10))
    while len(bomb) > BYTES_MAX:
        bomb = compress(codec, bomb)
    assert push(node, bomb, codec=codec) == ErrorCode.INVALID_RECORD
    assert received(node) == {}


@pytest.mark.parametrize(
    ("metrics", "codec", "error"),
    [
        (bytes(BYTES_MAX + 1), 0, ErrorCode.TELEMETRY_TOO_LARGE),
        (b"", 9, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (b"\xff", 0, ErrorCode.INVALID_RECORD),
        (b"no zstd", 4, ErrorCode.INVALID_RECORD),
    ],
)
def test_payloads_that_cannot_be_read_are_refused(
    node: OneNode, metrics: bytes, codec: int, error: ErrorCode
) -> None:
    assert push(node, metrics, codec=codec) == error


@pytest.mark.parametrize("id_", [ZERO_UUID, Uuid(bytes(15) + b"\1")])
def test_a_push_needs_an_id_of_its_own(node: OneNode, id_: Uuid) -> None:
    assert push(node, b"", id_=id_, subscription_id=0) == ErrorCode.INVALID_REQUEST


def test_pushes_are_throttled_and_the_last_one_is_accepted(node: OneNode) -> None:
    subscription_id = subscribed(node).subscription_id

    def push_again(*, is_terminating: bool = False) -> int:
        return push(
            node, payload(1), subscription_id=subscription_id, is_terminating=is_terminating
        )

    assert push_again() == 0
    assert push_again() == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert push_again(is_terminating=True) == 0
    assert push_again() == ErrorCode.INVALID_REQUEST
    assert received(node) == {"m0": 1}


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("interval.ms", "50", ErrorCode.INVALID_REQUEST),
        ("interval.ms", "soon", ErrorCode.INVALID_CONFIG),
        ("match", "client_id", ErrorCode.INVALID_CONFIG),
        ("unknown", "1", ErrorCode.INVALID_REQUEST),
    ],
)
def test_invalid_subscriptions_are_refused(
    node: OneNode, name: str, value: str, error: ErrorCode
) -> None:
    code, message = alter(node, **{name: value})
    assert code == error
    assert message


def test_telemetry_is_hidden_where_nothing_reads_metrics(start_node: StartNode) -> None:
    keys = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}
    assert not keys & start_node().broker.apis.keys()
    collector = {"ottla.metrics.otlp.endpoint": "http://localhost:4318"}
    assert keys <= start_node(configs=collector).broker.apis.keys()


def test_a_connection_is_watched_once_whatever_ids_its_client_invents(node: OneNode) -> None:
    watchers: list[Callable[[], None]] = []
    session = SimpleNamespace(software=("orders", "1"), port=1)
    connection: Any = Mock(session=session, when_closed=watchers.append)
    context = RequestContext(0, "client", "10.0.0.1", "PLAINTEXT", connection)
    telemetry = node.broker.client_telemetry
    for number in range(2, 5):
        telemetry.subscription_of(Uuid(bytes([number] * 16)), context)
    before = telemetry.clients
    (closed,) = watchers
    closed()
    assert telemetry.clients == before - 1

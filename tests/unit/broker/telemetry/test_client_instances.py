"""When a client may push its metrics, and when it has to ask again which ones."""

from __future__ import annotations

from ottla.broker.telemetry.client_instances import (
    ClientIdentity,
    ClientInstance,
    ClientInstances,
)
from ottla.configs import ClientMetricsSubscription
from ottla.model import ErrorCode, Uuid

ID = Uuid(bytes(range(16)))
CLIENT = ClientIdentity("AAECAwQFBgcICQoLDA0ODw", "orders-1", "librdkafka", "2.10", "10.0.0.1", "5")
THROTTLED = ErrorCode.THROTTLING_QUOTA_EXCEEDED


def subscription(**configs: str) -> ClientMetricsSubscription:
    return ClientMetricsSubscription.of(
        {name.replace("_", "."): value for name, value in configs.items()}
    )


def instance(*subscriptions: ClientMetricsSubscription) -> ClientInstance:
    return ClientInstance(ID, CLIENT, subscriptions or [subscription(interval_ms="10000")])


def push(client: ClientInstance, now: float, *, is_terminating: bool = False) -> ErrorCode:
    error = client.push(now, subscription_id=client.subscription_id, is_terminating=is_terminating)
    client.last_error = error
    return error


def test_subscriptions_of_a_client_are_united() -> None:
    client = instance(
        subscription(metrics="b,a", interval_ms="20000"),
        subscription(metrics="c,a", interval_ms="5000", match="client_id=orders-.*"),
        subscription(metrics="d", interval_ms="1000", match="client_id=payments"),
    )
    assert client.metrics == ["a", "b", "c"]
    assert client.push_interval_ms == 5_000
    assert instance(subscription(metrics="a"), subscription(metrics="b,*")).metrics == ["*"]


def test_without_a_subscription_nothing_is_requested_every_five_minutes() -> None:
    client = instance(subscription(metrics="a", match="client_id=other"))
    assert (client.metrics, client.push_interval_ms) == ([], 300_000)


def test_a_push_may_follow_the_subscription_at_once_and_then_the_interval_counts() -> None:
    client = instance()
    assert not client.get(0.0)
    assert not push(client, 0.1)
    assert push(client, 10.0) == THROTTLED
    assert not push(client, 10.1)


def test_a_subscription_is_requested_at_most_once_per_interval() -> None:
    client = instance()
    assert not client.get(0.0)
    assert client.get(9.9) == THROTTLED
    assert not client.get(10.0)
    assert not push(client, 11.0)
    assert client.get(20.9) == THROTTLED


def test_a_client_with_an_unknown_subscription_may_ask_again_at_once() -> None:
    client = instance()
    assert not client.get(0.0)
    client.last_error = client.push(1.0, subscription_id=7, is_terminating=False)
    assert client.last_error == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert not client.get(1.1)
    assert not push(client, 1.2)


def test_a_terminating_push_is_always_accepted_and_the_last() -> None:
    client = instance()
    assert not client.get(0.0)
    assert not push(client, 0.1)
    assert not push(client, 0.2, is_terminating=True)
    assert push(client, 99.0) == ErrorCode.INVALID_REQUEST
    assert push(client, 199.0, is_terminating=True) == ErrorCode.INVALID_REQUEST


def test_every_broker_gives_the_same_subscription_the_same_id() -> None:
    one = instance(subscription(metrics="a,b"))
    assert one.subscription_id == instance(subscription(metrics="b,a")).subscription_id
    other = instance(subscription(metrics="a,b", interval_ms="1000"))
    assert one.subscription_id != other.subscription_id
    assert -(2**31) <= one.subscription_id < 2**31


def test_clients_are_forgotten_after_three_intervals_and_with_their_connection() -> None:
    clients = ClientInstances()
    clients.change_subscriptions([subscription(interval_ms="30000")])
    clients.of(ID, CLIENT, 0.0)
    clients.expire(90.0)
    assert ID in clients
    clients.expire(90.1)
    assert ID not in clients
    clients.of(ID, CLIENT, 100.0)
    clients.remove(ID)
    clients.remove(ID)
    assert len(clients) == 0


def test_changed_subscriptions_reach_every_client() -> None:
    clients = ClientInstances()
    clients.change_subscriptions([subscription(metrics="a")])
    before = clients.of(ID, CLIENT, 0.0)
    before.get(0.0)
    clients.change_subscriptions([subscription(metrics="b")])
    after = clients.of(ID, CLIENT, 1.0)
    assert after.subscription_id != before.subscription_id
    assert not after.get(1.0)


def test_the_number_of_clients_is_limited() -> None:
    clients = ClientInstances()
    ids = [Uuid(number.to_bytes(16, "big")) for number in range(16_386)]
    for id_ in ids:
        clients.of(id_, CLIENT, 0.0)
        clients.of(ids[0], CLIENT, 0.0)
    assert len(clients) == 16_384
    assert ids[0] in clients
    assert ids[1] not in clients

"""What a node keeps of what clients have pushed."""

from __future__ import annotations

from ottla.broker.telemetry.client_instances import ClientIdentity
from ottla.broker.telemetry.received_metrics import Key, ReceivedMetrics
from ottla.metrics.otlp.decoding import ReceivedPoint


def client(number: int) -> ClientIdentity:
    return ClientIdentity(f"instance-{number}", "orders", "java", "4", "10.0.0.1", "5")


def gauge(name: str, value: float) -> ReceivedPoint:
    return ReceivedPoint(name, (), value, is_counter=False, is_delta=False)


def growth(name: str, value: float) -> ReceivedPoint:
    return ReceivedPoint(name, (), value, is_counter=True, is_delta=True)


def values(metrics: ReceivedMetrics, number: int = 1) -> dict[str, float]:
    return {
        key.metric: value
        for pushed in metrics
        if pushed.client == client(number)
        for key, value in pushed.values.items()
    }


def push(
    metrics: ReceivedMetrics, number: int, points: list[ReceivedPoint], *, expires_at: float
) -> None:
    pushed = metrics.values_after(client(number))
    for point in points:
        pushed.add(point)
    metrics.replace(client(number), pushed, expires_at=expires_at)


def test_a_push_replaces_the_one_before() -> None:
    metrics = ReceivedMetrics(series_max=10)
    push(metrics, 1, [gauge("a", 1), gauge("b", 2)], expires_at=10)
    push(metrics, 1, [gauge("b", 3)], expires_at=20)
    assert values(metrics) == {"b": 3}
    assert len(metrics) == 1


def test_growth_of_a_counter_is_added_up() -> None:
    metrics = ReceivedMetrics(series_max=10)
    for value in (5, 3):
        push(metrics, 1, [growth("a", value)], expires_at=10)
    (pushed,) = metrics
    assert pushed.values == {Key("a", (), is_counter=True): 8}


def test_series_beyond_the_limit_are_left_out_and_counted() -> None:
    metrics = ReceivedMetrics(series_max=3)
    push(metrics, 1, [gauge("a", 1), gauge("b", 2)], expires_at=10)
    push(metrics, 2, [gauge("a", 1), gauge("b", 2), gauge("a", 4)], expires_at=10)
    assert values(metrics, 2) == {"a": 4}
    assert (len(metrics), metrics.dropped) == (3, 1)
    # What a client has already does not count twice.
    push(metrics, 1, [gauge("a", 5), gauge("b", 6)], expires_at=10)
    assert values(metrics) == {"a": 5, "b": 6}


def test_old_metrics_are_forgotten() -> None:
    metrics = ReceivedMetrics(series_max=3)
    push(metrics, 1, [gauge("a", 1)], expires_at=10)
    push(metrics, 2, [gauge("a", 1)], expires_at=20)
    metrics.expire(10.1)
    assert values(metrics) == {}
    assert values(metrics, 2) == {"a": 1}
    push(metrics, 2, [], expires_at=20)
    assert len(metrics) == 0

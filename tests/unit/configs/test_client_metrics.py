"""Subscriptions to client metrics: which are valid, and which clients they match."""

from __future__ import annotations

import pytest

from ottla.configs import InvalidConfigError
from ottla.configs.client_metrics import (
    ClientMetricsSubscription,
    validate_client_metrics_configs,
)
from ottla.model import ErrorCode, KafkaError


def test_defaults_are_those_of_kafka() -> None:
    found = ClientMetricsSubscription.of({})
    assert (found.metrics, found.push_interval_ms, found.patterns) == ((), 300_000, {})


def test_all_patterns_must_match_the_whole_value() -> None:
    found = ClientMetricsSubscription.of(
        {"match": "client_id=orders-.*, client_source_address=10[.]0[.].*"}
    )
    orders = {"client_id": "orders-7", "client_source_address": "10.0.3.4"}
    assert found.matches(orders)
    assert not found.matches(orders | {"client_id": "my-orders-7"})
    assert not found.matches(orders | {"client_source_address": "10.1.0.0"})
    assert not found.matches({"client_id": "orders-7"})
    assert not found.matches(orders | {"client_id": "orders-" + "7" * 250})
    assert ClientMetricsSubscription.of({}).matches({})


@pytest.mark.parametrize("interval", ["99", "3600001", "-1"])
def test_intervals_are_limited(interval: str) -> None:
    with pytest.raises(KafkaError, match="interval must be between 100 and 3600000") as refused:
        ClientMetricsSubscription.of({"interval.ms": interval})
    assert refused.value.code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "match", ["client_id", "client_id=", "client=x", "client_id=a=b", "client_id=(", "=x"]
)
def test_illegal_patterns_are_refused(match: str) -> None:
    with pytest.raises(InvalidConfigError, match="Illegal client matching pattern"):
        ClientMetricsSubscription.of({"match": match})


def test_unknown_configs_and_a_subscription_without_a_name_are_refused() -> None:
    with pytest.raises(KafkaError, match="Unknown client metrics configuration"):
        ClientMetricsSubscription.of({"retention.ms": "1"})
    with pytest.raises(KafkaError, match="can't be empty"):
        validate_client_metrics_configs("", {})

"""Gateways in front of Ottla and of Apache Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from ottla.testing import Cluster
from tests.conformance.kafka.process import reason_unavailable as no_kafka
from tests.support.kafka.kafka_broker import Broker, KafkaBroker, kafka_broker
from tests.support.soak import IS_SOAK
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

KAFKA = pytest.param("kafka", marks=pytest.mark.skipif(bool(no_kafka()), reason="needs its jars"))
# A group does not wait for more members.
_SETTINGS = {"group.initial.rebalance.delay.ms": "0"}
_numbers = count()


@pytest.fixture(scope="package", params=["ottla", KAFKA])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Cluster() if request.param == "ottla" else kafka_broker(_SETTINGS) as broker:
        yield broker


@pytest.fixture(scope="package")
def gateway(broker: Broker) -> Iterator[GatewayProcess]:
    with running_gateway_process(broker.bootstrap) as gateway:
        yield gateway


@pytest.fixture
def topic(broker: Broker) -> str:
    name = f"topic-{next(_numbers)}"
    broker.create_topic(name, partitions=3)
    return name


@pytest.fixture
def group() -> str:
    return f"group-{next(_numbers)}"


@pytest.fixture
def ours(broker: Broker) -> None:
    """Skips Apache Kafka, except in a soak test: what is tested is the gateway's own work."""
    if isinstance(broker, KafkaBroker) and not IS_SOAK:
        pytest.skip("with Apache Kafka: OTTLA_SOAK=1")
